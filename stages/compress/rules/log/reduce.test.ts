import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { estimateTokens } from '../../../model/tokens.ts';
import type { CompressContext } from '../rule.ts';
import { cleanLine, cleanLog } from './clean.ts';
import { reduceLog } from './reduce.ts';
import { isFailure, scoreLine, templateOf } from './score.ts';
import { times } from '../../../../fixtures/compress/texts.ts';
import { unfoldRepeats } from '../../decode/decoders.ts';

const context = (logBudgetTokens: number): CompressContext => ({
  mode: 'hybrid',
  classification: { kind: 'log' },
  query: '',
  maxChars: 120,
  logBudgetTokens,
});

test('cleans a line to what a terminal would show', () => {
  assert.is(cleanLine('\u001b[31;1mred\u001b[0m'), 'red');
  assert.is(cleanLine('^[[38;5;9mred^[[0m'), 'red');
  assert.is(cleanLine('10%\r50%\r100% done\r'), '100% done');
  assert.is(cleanLine('a[0] = b[1m]'), 'a[0] = b[1m]');
});

test('folds runs of equal lines, and unfolds them to the original', () => {
  const text = `start\n${'Destroying test database\n'.repeat(40)}\n\nend`;
  const folded = cleanLog(text, context(100))!.text;
  assert.match(folded, '[svc the line above 39 more times]');
  assert.is(unfoldRepeats(folded), text);
  assert.is(cleanLog('a\na\nb', context(100)), undefined);
});

test('gives a high score to lines that state a failure, and not to those that only mention the word', () => {
  const failures = [
    'error: cannot find symbol',
    'src/a.ts(3,1): error TS2304: x',
    '--- FAIL: TestX (0.1s)',
    'E   AssertionError: 1 != 2',
    '3 failed, 10 passed',
    '##[error]Process completed with exit code 1.',
  ];
  const harmless = [
    '0 errors, 0 warnings',
    'Compiling thiserror v1.0',
    'fail-fast: false',
    'test a::error_case ... ok',
    'if-no-files-found: error',
  ];
  for (const line of failures) assert.ok(isFailure(scoreLine(line)), line);
  for (const line of harmless) assert.ok(scoreLine(line) < 0, line);
  assert.is(templateOf('took 12 ms at 0xff'), templateOf('took 7 ms at 0xab12'));
});

function ciLog(): string {
  const stamp = (n: number): string =>
    `2026-01-02T03:04:${String(n % 60).padStart(2, '0')}.1234567Z `;
  const lines = Array.from({ length: 900 }, (_, n) => `${stamp(n)}Compiling module-${n} v1.${n}.0`);
  lines[600] = `${stamp(600)}src/app.ts:12:7 - error TS2322: Type 'string' is not assignable to type 'number'.`;
  lines[601] = `${stamp(601)}12   const total: number = name;`;
  lines[899] = `${stamp(899)}##[error]Process completed with exit code 2.`;
  return lines.join('\n');
}

test('keeps a failure and the lines around it within the budget', () => {
  const text = ciLog();
  const out = reduceLog(text, context(500))!;
  assert.ok(estimateTokens(out.text) <= 500);
  assert.match(out.text, 'error TS2322');
  assert.match(out.text, 'const total: number = name;');
  assert.match(out.text, 'exit code 2');
  assert.match(out.text, 'the source is complete]');
});

test('spends the remaining budget on less important lines, never on blank ones', () => {
  const lines = times(200, (n) =>
    n % 3 === 0
      ? ''
      : n % 40 === 1
        ? `INFO batch ${n} begins`
        : `copying report-${n}.pdf to shelf ${n * 7}`,
  );
  const text = lines.join('\n');
  const budget = Math.max(200, Math.round(estimateTokens(text) * 0.25));
  const out = reduceLog(text, context(budget))!.text;
  assert.ok(estimateTokens(out) <= budget);
  assert.ok(estimateTokens(out) > budget * 0.8, `${estimateTokens(out)} of ${budget}`);
  for (const n of [1, 41, 161]) assert.match(out, `INFO batch ${n} begins`);
  assert.not.match(out, /^\[svc omitted .*\n\n\[svc omitted /m);
});

test('keeps only lines of the input, and counts kept and removed lines correctly', () => {
  const text = ciLog();
  const lines = text.split('\n');
  const out = reduceLog(text, context(800))!;
  const prefix = /had "(.*)" before them\]/.exec(out.text)?.[1] ?? '';
  const kept = out.text.split('\n').filter((line) => !line.startsWith('[svc '));
  const known = new Set(lines);
  // The first and last lines keep their timestamps.
  for (const line of kept) assert.ok(known.has(line) || known.has(prefix + line), line);
  const removed = out.removed.reduce((sum, range) => sum + range.to - range.from, 0);
  assert.is(kept.length + removed, lines.length);
});

test('leaves a small log alone', () => {
  assert.is(reduceLog('error: no\n', context(3500)), undefined);
});

test('removes no line from a log that fits once the common timestamp is factored out', () => {
  const lines = Array.from(
    { length: 200 },
    (_, n) => `2026-11-25T10:00:${String(n % 60).padStart(2, '0')}Z INFO batch ${n} in ${n * 7} ms`,
  );
  const text = lines.join('\n');
  const budget = Math.round(estimateTokens(text) * 0.85);
  const out = reduceLog(text, context(budget))!;
  assert.ok(estimateTokens(out.text) <= budget);
  assert.equal(out.removed, []);
  const [head, ...rest] = out.text.split('\n');
  const stamp = /had "(.*)" before them\]/.exec(head!)![1]!;
  assert.equal(
    rest.map((line) => (line.startsWith(stamp) ? line : stamp + line)),
    lines,
  );
});

test.run();
