/** Tables on a screen of 80 columns. */
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeContext, makePlace } from '../../fixtures/cli/run.ts';
import { widthOf } from './fit.ts';
import { printTable } from './table.ts';

function printed(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = 80,
  options: Parameters<typeof printTable>[3] = {},
): string[] {
  const place = makePlace();
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns });
  const { context } = makeContext(place, { stdout, env: { NO_COLOR: '1' } });
  printTable(context, header, rows, options);
  place.dispose();
  return String(stdout.read()).trimEnd().split('\n');
}

const HEADER = ['model', '>requests', '>errors', '>input', '>saved', '>output', '>cost'];
const FIGURES = ['1,987', '127', '44,705,967', '5,080,441', '2,632,561', '$1,076'];

test('names are shortened before figures, which stay whole', () => {
  const lines = printed(HEADER, [['deepseek.ai/deepseek-reasoner-v3.1-terminus', ...FIGURES]]);
  assert.is(lines.length, 4);
  assert.ok(lines.every((line) => widthOf(line) <= 80));
  for (const figure of FIGURES) assert.ok(lines[1]!.includes(figure), lines[1]);
});

test('one unusual name does not change the table of the others', () => {
  const odd = 'x'.repeat(70);
  const lines = printed(HEADER, [
    ['gpt-5', ...FIGURES],
    [odd, ...FIGURES],
  ]);
  assert.ok(lines.every((line) => widthOf(line) <= 80));
  assert.match(lines[1]!, /^gpt-5 .*44,705,967/);
  assert.match(lines[2]!, /^x+ .*44,705,967/);
  assert.is(lines.join('').match(/x/g)?.length, odd.length);
});

test('a terminal of unknown size is assumed to have 80 columns', () => {
  const row = ['deepseek.ai/deepseek-reasoner-v3.1-terminus', ...FIGURES];
  assert.equal(printed(HEADER, [row], 0), printed(HEADER, [row]));
});

test('if the figures alone are too wide, each row is shown as names and values', () => {
  const wide = HEADER.map((name) => (name === 'model' ? 'gpt-5' : '123,456,789,012'));
  const lines = printed(HEADER, [wide]);
  assert.is(lines[0], 'gpt-5');
  assert.is(lines[3], '  input     123,456,789,012');
});

test('a narrow screen omits optional columns, and each row stays on one line', () => {
  const model = 'claude-sonnet-4-5-20250929';
  const header = ['request', 'model', '>in', '>sent', '>saved', '>cost', 'outcome'];
  const row = ['1on3oj', model, '2,673,000', '1,673,000', '1,000,000', '$0.0083', 'error (502)'];
  const options = { expendable: ['sent', 'in'] };
  const at = (columns: number) => printed(header, [row], columns, options);
  assert.match(at(120)[0]!, /in +sent +saved/);
  assert.is(at(80).length, 2);
  assert.match(at(80)[0]!, /model +in +saved/);
  assert.is(at(72).length, 2);
  assert.match(at(72)[0]!, /model +saved/);
  for (const columns of [120, 80, 72]) assert.ok(at(columns)[1]!.includes(model));
  // If no more columns are expendable, the name is folded, never cut.
  const narrow = at(50);
  assert.ok(narrow.every((line) => widthOf(line) <= 50));
  const name = narrow
    .slice(1)
    .map((line) => line.slice(9).trim().split(' ', 1)[0])
    .join('');
  assert.is(name, model);
});

test.run();
