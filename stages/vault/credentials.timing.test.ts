import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { processorMs } from '../../fixtures/growth.ts';
import { contentRisk } from './risk/risk.ts';

/** Pieces that a rule begins anew at, or that one goes on through as long as they come. */
const PIECES = [
  'eyJaaaaaaaaaa-',
  '.eyJ',
  'password',
  'PASS=',
  'password,',
  'password = ',
  '"password":',
  'passwörter ',
  '密码',
  'secret:',
  'key=',
  'a://b:',
  ' -u a:',
  '$2$',
  'server=',
  'password=a;',
  '====',
  'a.b-',
  'login  ',
  'mnemonic ',
  '| password |\n',
  '1a2b-3c4d ',
  '-----BEGIN ',
];
/** What a repetition may stand behind. */
const STARTS = ['', 'server=', 'password', 'kind: Secret\ndata:', 'curl '];
const FILLS = [' ', '\n', '\t', '=', 'a', '"', '-'];
const CHARS = 16_384;
/** A square grows sixteenfold over four times the size; this leaves room for a machine at work. */
const MAX_GROWTH = 8;
/** Less cannot be told from a clock's own grain and a collection of garbage. */
const MIN_MEASURED_MS = 8;
/** Of the larger text, some 25 µs a character: what is slow from the start need not grow to be a fault. */
const MAX_MS = 1_600;

/** The least processor time of three runs: a collection of garbage only adds to it. */
function leastMs(text: string, path: string): number {
  const runs = Array.from({ length: 3 }, () => processorMs(() => void contentRisk(text, path)));
  return Math.min(...runs);
}

/** Undefined when the time grows with the text and is bearable; else what was measured, each time the same. */
function growthOf(small: string, large: string, path: string): string | undefined {
  let reported: string | undefined;
  for (let attempt = 0; attempt < 3; attempt++) {
    const largeMs = leastMs(large, path);
    if (largeMs < MIN_MEASURED_MS) return undefined;
    const smallMs = leastMs(small, path);
    if (largeMs <= MAX_MS && largeMs < smallMs * MAX_GROWTH) return undefined;
    reported = `${smallMs} ms, then ${largeMs} ms`;
  }
  return reported;
}

test('four times the text takes no more than some four times as long to judge', () => {
  const texts = [
    ...PIECES.map((piece) => ['', piece] as const),
    ...STARTS.flatMap((start) => FILLS.map((fill) => [start, fill] as const)),
  ];
  for (const path of ['notes.md', 'app.conf']) {
    for (const [start, piece] of texts) {
      const of = (chars: number): string => start + piece.repeat(chars / piece.length);
      const reported = growthOf(of(CHARS), of(4 * CHARS), path);
      assert.is(reported, undefined, `${JSON.stringify(start + piece)} in ${path}: ${reported}`);
    }
  }
});

test.run();
