import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { argFaults, type Values } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { render, type Row } from './rows.ts';

const LINES = [
  'one 1',
  '',
  '    two: 2',
  'error: three',
  'error: three',
  'error: three',
  '{"a": [1, 2]}',
];

for (const [name, operation] of OPERATIONS) {
  const { params, example, loss } = operation;
  const run = operation.make(example.with);

  test(`${name} produces the result of its example, and has a description`, () => {
    assert.equal(argFaults(operation, example.with), []);
    const input = example.before.split('\n');
    const rows = run(input.map((text, at) => ({ text, at })));
    assert.is(render(input, rows, { name: 'x', loss }).text, example.after);
    assert.match(operation.about, /^[A-Z].*[.]$/);
    for (const { about } of Object.values(params)) assert.ok(about.length > 3);
  });

  test(`${name} keeps every line that is marked to stay`, () => {
    const rows: readonly Row[] = LINES.map((text, at) => ({ text, at, isProtected: true }));
    const isOnText = /^(?:json_|html_)/.test(name);
    if (!isOnText) {
      const out = run(rows).map(({ text }) => text);
      for (const line of LINES) assert.ok(out.includes(line), `${line} is gone`);
    }
  });
}

/** Returns the texts of the rows that an operation makes of `lines`. */
function runOperation(name: string, values: Values, lines: readonly string[]): readonly string[] {
  const operation = OPERATIONS.get(name)!;
  const rows = lines.map((text, at) => ({ text, at }));
  return operation
    .make(values)(rows)
    .map(({ text }) => text);
}

test('groups lines by any of several patterns, and not those whose start is hidden by colour codes', () => {
  const pattern = ['^no such', '^([^:]+):'];
  assert.is(runOperation('group_by', { pattern }, ['a:1', 'a:2', 'a:3']).at(-1), '\t3');
  const coloured = ['1', '2', '3'].map((one) => `\u001b[31ma\u001b[0m:${one}`);
  assert.equal(runOperation('group_by', { pattern }, coloured), coloured);
});

test('cuts a long line between words, except inside an unusually long word', () => {
  const words = 'return first; '.repeat(20);
  for (const max of [40, 41, 42, 43, 44, 45, 46]) {
    const [cut] = runOperation('truncate_lines', { most: max, tail: 17 }, [words]);
    const [start, end] = cut!.split(/… \d+ characters …/);
    for (const word of `${start} ${end}`.match(/\w+/g)!)
      assert.ok(['return', 'first'].includes(word), `${max}: ${word}`);
  }
  const [blob] = runOperation('truncate_lines', { most: 40, tail: 10 }, ['x'.repeat(500)]);
  assert.is(blob, `${'x'.repeat(30)}… 460 characters …${'x'.repeat(10)}`);
});

test('removes a match where it was found, not where the same text occurs earlier', () => {
  assert.equal(runOperation('strip_match', { pattern: '\\d$' }, ['1 of 1']), ['1 of ']);
  assert.equal(runOperation('strip_match', { pattern: ' x$' }, ['a\u001b[31m x\u001b[0m']), ['a']);
});

test('inserts a replacement literally', () => {
  assert.equal(runOperation('replace_text', { text: 'a', with: '$&$1' }, ['cat']), ['c$&$1t']);
  assert.equal(runOperation('normalise_paths', { folders: ['/w/'], with: '$&' }, ['/w/a']), [
    '$&a',
  ]);
});

test('cuts texts in JSON between characters', () => {
  const cut = (value: string): unknown =>
    JSON.parse(runOperation('json_cut_texts', { most: 8 }, [JSON.stringify([value])])[0]!);
  assert.equal(cut('1234567\\89abcdef'), ['1234567…']);
  assert.equal(cut('123456\\789abcdef'), ['123456\\…']);
  assert.equal(cut('1234567😀89abcdef'), ['1234567…']);
  assert.equal(cut('12345\u000089abcdef'), ['12345…']);
  const escaped = runOperation('json_cut_texts', { most: 8 }, ['["12\\ud83d\\ude0089abcdef"]'])[0]!;
  assert.equal(JSON.parse(escaped), ['12…']);
});

test('counts context lines shared by several matches once, however many are requested', () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `hit ${at}`);
  const all = runOperation('keep_lines', { pattern: 'hit', before: 1e6, after: 1e6 }, lines);
  assert.is(all.length, lines.length);
  const few = runOperation('keep_lines', { pattern: 'x', before: 1, after: 1 }, [
    'a',
    'x',
    'b',
    'c',
    'x',
  ]);
  assert.equal(few, ['a', 'x', 'b', 'c', 'x']);
  assert.equal(runOperation('keep_lines', { pattern: 'x', after: 1 }, ['a', 'x', 'b', 'c']), [
    'x',
    'b',
  ]);
});

test('treats a `<` that opens no tag as text', () => {
  assert.equal(runOperation('html_text', {}, ['<p>if a < b</p> then x <- y, and 1 <2']), [
    'if a < b',
    'then x <- y, and 1 <2',
  ]);
});

test('separates the texts of elements that a page shows separately', () => {
  const lines = runOperation('html_text', {}, [
    '<div><button>All</button><button>New</button><label>Name</label><input><span>x</span><b>y</b></div>',
    '<dl><dt>Since<dd>0.4</dl><nav>a</nav><footer>b</footer><blockquote>c</blockquote>d<hr>e',
  ]);
  assert.equal(lines, ['All New Name xy', 'Since', '0.4', 'a', 'b', 'c', 'd', 'e']);
});

test('cuts a line between characters', () => {
  const line = `${'a'.repeat(14)}😀${'b'.repeat(40)}😀${'c'.repeat(4)}`;
  assert.equal(runOperation('truncate_lines', { most: 20, tail: 5 }, [line]), [
    `${'a'.repeat(14)}… 42 characters …😀cccc`,
  ]);
});

test('offers at least thirty operations', () => {
  assert.ok(OPERATIONS.size >= 30, String(OPERATIONS.size));
});

test.run();
