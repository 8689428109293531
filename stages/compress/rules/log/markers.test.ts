import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtIn } from '../built-in.ts';
import type { Applied } from '../rewrite.ts';
import type { LineRange } from '../rule.ts';
import { unpackStack } from '../trace/pack-stack.ts';
import { readRepeatCount } from '../../text/repeats.ts';
import { MARK, readOmission } from '../../text/marker.ts';
import { makeLog, times } from '../../../../fixtures/compress/texts.ts';

const CONTEXT = makeLog(600);

const TRACE = (n: number): string[] => [
  'Traceback (most recent call last):',
  ...times(
    12,
    (at) =>
      `  File "/usr/lib/python3/site-packages/lib/m${at}.py", line ${at + n}, in f${at}\n    call(${at})`,
  ),
  `ValueError: bad ${n}`,
];

const LOGS: Readonly<Record<string, readonly string[]>> = {
  folded: [
    ...times(40, (n) => `Compiling crate-${n} v0.1.${n}`),
    ...times(60, () => 'waiting for the database'),
    ...times(200, (n) => `Downloading thing-${n} from the registry`),
    'src/app.ts(33,1): error TS2322: Type mismatch',
    ...times(200, (n) => `Compiled module ${n}`),
  ],
  traces: [
    ...times(100, (n) => `step ${n} of the import`),
    ...TRACE(1),
    ...times(30, () => 'retrying'),
    ...times(300, (n) => `step ${n} of the export`),
    ...TRACE(2),
    ...times(50, (n) => `cleaning up ${n}`),
  ]
    .join('\n')
    .split('\n'),
  wrapped: [
    'Chunk ID: 1a2b',
    'Wall time: 1.5 seconds',
    'Output:',
    ...times(300, (n) => `Compiling crate-${n} v0.1.${n}`),
    'error: linking with `cc` failed: exit status: 1',
    ...times(100, (n) => `Compiled module ${n}`),
  ],
};

/** Reads the output by its markers alone, and checks each line against the block. */
function readBack(lines: readonly string[], { text }: Applied): readonly LineRange[] {
  const omissions: LineRange[] = [];
  let at = 0;
  for (const line of (unpackStack(text) ?? text).split('\n')) {
    const omitted = readOmission(line);
    const repeats = readRepeatCount(line);
    if (omitted !== undefined) {
      assert.is(omitted.from, at, line);
      omissions.push(omitted);
      at = omitted.to;
    } else if (repeats !== undefined) {
      for (let copy = 0; copy < repeats; copy++) assert.is(lines[at++], lines[at - 2], line);
    } else if (!line.startsWith(MARK)) assert.is(line, lines[at++]);
  }
  assert.is(at, lines.length);
  return omissions;
}

for (const [name, lines] of Object.entries(LOGS)) {
  test(`numbers omitted lines so that markers and kept lines add up to the original: ${name}`, () => {
    const applied = builtIn.apply(lines.join('\n'), CONTEXT);
    assert.ok(applied.by.includes('log-reduce'), applied.by.join());
    const omissions = readBack(lines, applied);
    assert.equal(applied.removed, omissions);
    assert.match(applied.text, ` of ${lines.length} lines here (`);
  });
}

test('numbers the lines of a pasted text from the start of its block', () => {
  const lines = LOGS['folded']!;
  const applied = builtIn.apply(lines.join('\n'), { ...CONTEXT, linesBefore: 7, linesAfter: 3 });
  const first = applied.text.split('\n').flatMap((line) => readOmission(line) ?? [])[0];
  assert.equal(first, { from: 10, to: 47 });
  assert.match(applied.text, `omitted 37 of ${lines.length + 10} lines here`);
});

test('keeps or removes a repeat count together with its line', () => {
  const lines = [
    ...times(200, (n) => `Compiling crate-${n} v0.1.${n}`),
    ...times(30, () => '   45% done'),
    'error: one thing failed',
    ...times(9, () => 'error: the same thing failed'),
    ...times(200, (n) => `Compiled module ${n}`),
  ];
  const applied = builtIn.apply(lines.join('\n'), CONTEXT);
  readBack(lines, applied);
  assert.match(applied.text, 'error: the same thing failed\n[svc the line above 8 more times]');
});

test.run();
