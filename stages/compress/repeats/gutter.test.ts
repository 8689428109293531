import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fillGutter, lineContents, splitNumbers, thinGutter } from './gutter.ts';

const view = (from: number, count: number, separator = '\t', width = 6): string =>
  Array.from(
    { length: count },
    (_, at) => `${String(from + at).padStart(width)}${separator}    line(${at});`,
  ).join('\n');

test('keeps the number of the first and every fifth line, and restores the others', () => {
  const text = `before\n${view(8, 14)}\nafter`;
  const out = thinGutter(text)!;
  const printed = out.split('\n').filter((line) => /^ *\d+\t/.test(line));
  assert.equal(
    printed.map((line) => Number.parseInt(line, 10)),
    [8, 10, 15, 20],
  );
  assert.match(out, '[svc 14 lines, every fifth numbered]');
  assert.is(fillGutter(out), text);
});

test('restores arrows, narrow columns, blank lines and numbers that get longer', () => {
  for (const text of [view(1, 40, '→'), view(95, 20, '\t', 1), view(999_995, 12, '→', 6)])
    assert.is(fillGutter(thinGutter(text)!), text);
  const blank = view(1, 12).replace('    line(4);', '');
  assert.is(fillGutter(thinGutter(blank)!), blank);
});

/** How other agents print a file of 40 lines, with blank lines and various indentation. */
const VIEWS: Readonly<Record<string, (n: number) => string>> = {
  'OpenCode until 2025': (n) => `${String(n).padStart(5, '0')}| `,
  OpenCode: (n) => `${n}: `,
  'Roo Code': (n) => `${String(n).padStart(2)} | `,
  Crush: (n) => `${String(n).padStart(6)}|`,
  Codex: (n) => `L${n}: `,
  'Cline, Zed': (n) => `${String(n).padStart(6)}\t`,
};

const SOURCE = Array.from({ length: 40 }, (_, at) =>
  at % 9 === 4
    ? ''
    : `${' '.repeat(2 * (at % 4))}const value${at} = call(${at}) | ${at % 3 ? 1 : 'a | b'};`,
);

test('thins out and restores the line numbers of other agents', () => {
  for (const [name, number] of Object.entries(VIEWS)) {
    for (const from of [1, 6, 95]) {
      const printed = SOURCE.map((line, at) => number(from + at) + line);
      const text = ['<file>', ...printed, '', '(End of file - total 40 lines)', '</file>'].join(
        '\n',
      );
      const out = thinGutter(text);
      assert.ok(out !== undefined && out.length < text.length, `${name} from ${from}`);
      assert.is(fillGutter(out), text, name);
      assert.equal(lineContents(text.split('\n')).slice(1, 41), SOURCE, name);
    }
  }
});

test('keeps the indentation of a file that is indented from its first line on', () => {
  for (const [name, number] of Object.entries(VIEWS)) {
    const source = SOURCE.map((line) => (line === '' ? line : `    ${line}`));
    const text = source.map((line, at) => number(at + 7) + line).join('\n');
    assert.is(fillGutter(thinGutter(text)!), text, name);
    assert.equal(lineContents(text.split('\n')), source, name);
  }
});

test('leaves tables, mappings and views of editors that address lines by number unchanged', () => {
  const rows = (row: (n: number) => string, above?: string): string =>
    [
      ...(above === undefined ? [] : [above]),
      ...Array.from({ length: 20 }, (_, at) => row(at + 1)),
    ].join('\n');
  const texts = [
    rows((n) => ` ${String(n).padStart(2)} |    ${n * 7}`, '----+------'),
    rows((n) => `${String(n).padStart(2)} | Alice | ${n * 7}`, 'id | name | age'),
    rows((n) => `${String(n).padStart(2)} |  ${n * 7} | x`),
    rows((n) => `${n}: value ${n}`),
    rows((n) => `L${n}: the text of a finding`),
    rows((n) => `${n}:${n % 10 === 0 ? '' : '    '}return ${n}`),
    rows((n) => `${n}:  const item${n} = useItem(${n});`, 'src/navigation/item.tsx'),
    rows((n) => `${String(n).padStart(6)}|name ${n}`),
  ];
  for (const text of texts) assert.is(thinGutter(text), undefined, text.slice(0, 40));
});

test('leaves texts unchanged that are short, do not count up, or are numbered with a colon', () => {
  assert.is(thinGutter(view(1, 7)), undefined);
  assert.is(thinGutter(view(1, 40, ':')), undefined);
  assert.is(thinGutter('3\ta\n9\tb\n2\tc\n8\td\n1\te\n7\tf\n6\tg\n5\th\n4\ti'), undefined);
  assert.is(thinGutter('plain\ntext'), undefined);
});

test('does not take ids in the first column of a table for line numbers', () => {
  const table = (cells: string): string =>
    Array.from({ length: 20 }, (_, at) => `${at + 100}\t${cells}${at * 7}`).join('\n');
  for (const text of [`id\tname\n${table('Alpha_')}`, table('Alpha\t'), table('Alpha_')]) {
    assert.is(thinGutter(text), undefined);
    assert.is(splitNumbers(text.split('\n')).prefixes, undefined);
  }
});

test('thins out the numbers of a view of a hundred thousand lines', () => {
  const text = view(1, 120_000);
  assert.is(fillGutter(thinGutter(text)!), text);
});

test('restores lines whose content begins with a number of its own', () => {
  const lines = Array.from({ length: 10 }, (_, at) => `${at + 1}\t${at + 1}\t${at + 2}`);
  const text = lines.join('\n');
  const out = thinGutter(text);
  if (out !== undefined) assert.is(fillGutter(out), text);
});

test('finds the number of each line, even in a view that was thinned out before', () => {
  const lines = `<output>\n${view(4, 8)}\n</output>`.split('\n');
  const numbers = Array.from({ length: 8 }, (_, at) => `${String(at + 4).padStart(6)}\t`);
  assert.equal(splitNumbers(lines).prefixes, ['', ...numbers, '']);
  const thinned = thinGutter(lines.join('\n'))!.split('\n');
  const { prefixes, contents } = splitNumbers(thinned);
  assert.equal(prefixes, ['', '', ...numbers, '']);
  assert.equal(contents.slice(2), lineContents(lines).slice(1));
});

test.run();
