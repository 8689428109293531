/** Long log lines are cut between words and values, never inside one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtIn } from '../built-in.ts';
import { cutLine, segmentLine, partsToScore } from './segments.ts';
import { makeLog, times } from '../../../../fixtures/compress/texts.ts';

const cut = (line: string, maxTokens = 50): string => cutLine(segmentLine(line), maxTokens);

/** Returns the pieces of a cut line, without the note above and the marks between. */
function piecesOf(out: string): readonly string[] {
  const [note, line] = out.split('\n');
  assert.match(note!, /^\[svc \d+ of \d+ characters of the next line, cut at each …/);
  return line!.split('…').map((piece) => piece.trim());
}

/** Returns the words between separators; a number with commas is one. */
const wordsOf = (text: string): readonly string[] => text.match(/(?:\d,(?=\d)|[^\s,;&|"])+/g) ?? [];

const LINES: Readonly<Record<string, string>> = {
  words: times(900, (n) => `unit${n} loaded in ${n * 1234567} ms`).join(' '),
  'words, one of which failed': times(900, (n) =>
    n === 450 ? 'FATAL lost shard 1234567' : `unit${n} took ${n * 1234567}`,
  ).join(' '),
  commas: times(900, (n) => `unit${n}=${n * 1234567}`).join(','),
  'numbers with commas in a row': times(900, (n) => `${n + 100},345,678`).join(';'),
  semicolons: times(900, (n) => `key${n}:${n * 1234567}`).join(';'),
  'a query': times(900, (n) => `k${n}=${n * 1234567}`).join('&'),
  bars: times(900, (n) => `${n * 1234567}`).join('|'),
  json: JSON.stringify(times(900, (n) => `value-${n * 1234567}`)),
  redrawn: times(900, (n) => `part ${n} of the ${n * 1234567}`).join('\r'),
  'words before a long number': `${times(300, (n) => `w${n}`).join(' ')} ${'1234567890'.repeat(500)} ${times(300, (n) => `v${n}`).join(' ')}`,
  'letters that stand apart': times(400, (n) => `unit${n} took ${n * 1234567}`)
    .join(', ')
    .replaceAll(/./g, '$&\u0000'),
};

for (const [name, line] of Object.entries(LINES)) {
  test(`splits no word or number: ${name}`, () => {
    const out = cut(line);
    assert.is.not(out, line);
    const known = new Set(wordsOf(line));
    for (const piece of piecesOf(out))
      for (const word of wordsOf(piece)) assert.ok(known.has(word), `${word} in ${piece}`);
  });
}

test('keeps a line whole that cannot be cut, and drops a long unbreakable piece of another', () => {
  for (const line of ['1234567890'.repeat(500), 'abc'.repeat(3000), '1,234,567'.repeat(900)])
    assert.is(cut(line), line);
  const out = cut(LINES['words before a long number']!);
  assert.not.match(out, '1234567890');
  assert.match(out, 'w0 ');
  assert.match(out, ' v299');
  const first = cut(`${'9'.repeat(4000)} ${times(900, (n) => `v${n}`).join(' ')} end`);
  assert.not.match(first, '999');
  assert.match(first, '\n… ');
  assert.match(cut(`begin ${times(900, (n) => `v${n}`).join(' ')} ${'9'.repeat(4000)}`), /…$/);
});

test('states the number of characters kept', () => {
  for (const line of Object.values(LINES)) {
    const [note, rest] = cut(line).split('\n');
    const [, kept, all] = /^\[svc (\d+) of (\d+) characters/.exec(note!)!;
    assert.is(Number(all), line.length);
    assert.is(rest!.replaceAll(/… |…$/g, '').length, Number(kept));
  }
});

test('finds a failure within a piece that cannot be cut', () => {
  const piece = `${'x:'.repeat(500)}FATAL:lost-shard${':x'.repeat(500)}`;
  assert.ok(partsToScore(segmentLine(piece)).some((part) => part.includes('FATAL')));
  const out = cut(
    `${times(900, (n) => `v${n}`).join(' ')} ${piece} ${times(900, (n) => `v${n}`).join(' ')}`,
    4000,
  );
  assert.match(out, 'FATAL:lost-shard');
});

test('scores only the first and the last parts of a very long line', () => {
  const parts = partsToScore(segmentLine(times(200_000, (n) => `a${n}`).join(' ')));
  assert.ok(parts.length <= 256);
  assert.match(parts[0]!, /^a0 a1 /);
  assert.match(parts.at(-1)!, /a199999$/);
  assert.equal(partsToScore(segmentLine('2026-01-02T03:04:05Z one line')), ['one line']);
});

test('cuts lines between words in a full compression pass, too', () => {
  const line = `ERROR begin ${times(4000, (n) => `id=${n * 1234567}`).join(' ')} FATAL lost 1234567`;
  const { text } = builtIn.apply(`INFO start\n${line}\nINFO end`, makeLog(500));
  assert.match(text, 'FATAL lost 1234567');
  const known = new Set(wordsOf(line));
  for (const piece of text.split('\n')[2]!.split('…'))
    for (const word of wordsOf(piece)) assert.ok(known.has(word), word);
});

test.run();
