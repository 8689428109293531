import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { estimateTokens } from '../../model/tokens.ts';
import { thinGutter } from './gutter.ts';
import { SentLines } from './repeats.ts';
import { restoreReferences } from '../decode/decoders.ts';

const FILE = Array.from(
  { length: 60 },
  (_, n) => `  const value${n} = compute(${n}, 'some text ${n * 7}');`,
);
const numbered = (lines: readonly string[], first: number, separator = '\t'): string =>
  lines.map((line, at) => `${String(first + at).padStart(6)}${separator}${line}`).join('\n');

test('replaces a later copy with a reference from which it can be restored', () => {
  const sent = new SentLines();
  sent.add('result 1 (cat a.ts)', FILE.join('\n'));
  const later = ['header that differs', ...FILE.slice(10, 40), 'a new line'].join('\n');
  const out = sent.replaceRepeats(later)!;
  assert.is(
    out.text,
    'header that differs\n[svc lines 11–40 of result 1 (cat a.ts) again]\na new line',
  );
  assert.is(restoreReferences(sent, out.text), later);
});

test('replaces a near copy with references around its changed lines', () => {
  const sent = new SentLines();
  sent.add('result 1 (cat a.ts)', FILE.join('\n'));
  const changed = FILE.with(30, '  const value30 = other();').join('\n');
  const out = sent.replaceRepeats(changed)!;
  assert.is(out.text.split('\n').length, 3);
  assert.match(out.text, 'const value30 = other();');
  assert.is(restoreReferences(sent, out.text), changed);
});

/** How agents print the number before a line. */
const NUMBERS: Readonly<Record<string, (number: number) => string>> = {
  'cat -n': (number) => `${String(number).padStart(6)}\t`,
  'Claude Code': (number) => `${number}\t`,
  'Claude Code until 2025': (number) => `${String(number).padStart(6)}→`,
  OpenCode: (number) => `${number}: `,
  'OpenCode until 2025': (number) => `${String(number).padStart(5, '0')}| `,
  'Roo Code': (number) => `${String(number).padStart(3)} | `,
  Codex: (number) => `L${number}: `,
};

test('recognises copies under line numbers of any form, and restores the numbers', () => {
  const source = FILE.map((line, at) => (at % 5 === 0 ? line.trim() : line));
  for (const [name, number] of Object.entries(NUMBERS)) {
    const view = (from: number, to: number, first: number): string =>
      source
        .slice(from, to)
        .map((line, at) => number(first + at) + line)
        .join('\n');
    const sent = new SentLines();
    sent.add('result 1 (read)', view(0, 60, 1));
    const again = sent.replaceRepeats(view(20, 50, 21))!;
    assert.is(again.text, '[svc lines 21–50 of result 1 (read) again]', name);
    assert.is(restoreReferences(sent, again.text), view(20, 50, 21), name);
    const moved = sent.replaceRepeats(view(20, 50, 95))!;
    assert.match(moved.text, `again, numbered from "${number(95)}"]`, name);
    assert.is(restoreReferences(sent, moved.text), view(20, 50, 95), name);
    const plain = source.slice(5, 30).join('\n');
    const bare = sent.replaceRepeats(plain)!;
    assert.match(bare.text, 'again, without numbers]', name);
    assert.is(restoreReferences(sent, bare.text), plain, name);
  }
});

test('refers to lines of a view that begins further down by the printed numbers', () => {
  const sent = new SentLines();
  sent.add('result 1 (read)', numbered(FILE.slice(20), 21));
  const later = numbered(FILE.slice(30, 50), 31);
  const out = sent.replaceRepeats(later)!;
  assert.is(out.text, '[svc lines numbered 31–50 in result 1 (read) again]');
  assert.is(restoreReferences(sent, out.text), later);
  sent.introduce(out.labels);
  const moved = sent.replaceRepeats(numbered(FILE.slice(30, 50), 33))!;
  assert.is(moved.text, '[svc result 1 (read), numbered 31-50, here numbered from "    33\t"]');
  assert.is(restoreReferences(sent, moved.text), numbered(FILE.slice(30, 50), 33));
  const plain = FILE.slice(30, 50).join('\n');
  const bare = sent.replaceRepeats(plain)!;
  assert.is(bare.text, '[svc result 1 (read), numbered 31-50, here without numbers]');
  assert.is(restoreReferences(sent, bare.text), plain);
});

test('refers to a view below a header by the printed numbers, whatever separates number and line', () => {
  const header = ['[File: /app/fields.py (1,997 lines)]', '(1456 more lines above)'];
  const view = FILE.slice(0, 30).map((line, at) => `${1457 + at}:${line.trim()}`);
  const sent = new SentLines();
  sent.add('result 6 (fields.py)', [...header, ...view, '(510 more lines below)'].join('\n'));
  const later = [header[0], ...view.slice(0, 17), 'an edit', ...view.slice(18)].join('\n');
  const out = sent.replaceRepeats(later)!;
  assert.equal(out.text.split('\n'), [
    header[0],
    '[svc lines numbered 1457–1473 in result 6 (fields.py) again]',
    'an edit',
    '[svc result 6 (fields.py), numbered 1475-1486]',
  ]);
  assert.is(restoreReferences(sent, out.text), later);
});

test('counts lines from the top if a text prints the same numbers twice', () => {
  const sent = new SentLines();
  const two = `${numbered(FILE.slice(0, 20), 1)}\n${numbered(FILE.slice(20, 40), 1)}`;
  sent.add('result 1 (cat -n)', two);
  const later = numbered(FILE.slice(22, 40), 3);
  const out = sent.replaceRepeats(later)!;
  assert.is(out.text, '[svc lines 23–40 of result 1 (cat -n) again, numbered from "     3\t"]');
  assert.is(restoreReferences(sent, out.text), later);
});

test('lines of a view are referenced, even if their numbers were thinned out', () => {
  const sent = new SentLines();
  sent.add('result 1 (read)', thinGutter(numbered(FILE, 1))!);
  const again = sent.replaceRepeats(numbered(FILE.slice(20, 50), 21))!;
  assert.is(again.text, '[svc lines 21–50 of result 1 (read) again]');
  assert.is(restoreReferences(sent, again.text), numbered(FILE.slice(20, 50), 21));
});

test('makes no reference to lines whose numbering cannot be described', () => {
  const sent = new SentLines();
  sent.add('result 1', FILE.join('\n'));
  const odd = FILE.map((line, at) => `${at + 1} | ${line}`).join('\n');
  assert.is(sent.replaceRepeats(odd.replace(/^(\d) /gm, '  $1 ')), undefined);
});

test('makes no reference that is longer than the lines, in tokens or in bytes', () => {
  // Every digit and every comma is a token, so that few bytes have many of them.
  const digits = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n % 7},`);
  for (const count of [11, 20]) {
    const sent = new SentLines();
    const text = ['const a = [', ...digits(count), '];'].join('\n');
    sent.add('result 1 (bundle.min.js)', text);
    const out = sent.replaceRepeats(text)?.text ?? text;
    assert.ok(Buffer.byteLength(out) <= Buffer.byteLength(text), out);
    assert.ok(estimateTokens(out) <= estimateTokens(text), out);
    assert.is(out === text, count === 11);
  }
});

test('makes no reference within a text below one that spans omitted comments', () => {
  const comment = '  // what the next lines are for';
  const file = [...FILE.slice(0, 5), comment, ...FILE.slice(5)];
  const numbers = file.map((_, at) => (at < 5 ? at + 1 : at === 5 ? Number.NaN : at));
  const more = Array.from(
    { length: 12 },
    (_, n) => `  another(${n}, 'of which nothing was sent');`,
  );
  const later = (first: readonly string[]): string =>
    [...first, ...more, '  between();', ...more].join('\n');
  const sent = new SentLines();
  sent.add('result 1 (a.ts)', file.join('\n'), undefined, { lines: new Set([5]), numbers });
  const passes = sent.replaceRepeats(later(file.slice(0, 30)))!;
  assert.is(passes.text, later(['[svc lines 1–29 of result 1 (a.ts) again]']));
  const whole = sent.replaceRepeats(later(file.slice(6, 30)))!;
  assert.match(whole.text, /lines 25–36 of this text|this text, lines 25-36/);
});

test('refers to lines further up in the same text', () => {
  const sent = new SentLines();
  const trace = FILE.slice(0, 12).join('\n');
  const text = `first failure\n${trace}\nsecond failure\n${trace}\nend`;
  const out = sent.replaceRepeats(text)!;
  assert.match(out.text, 'of this text again]');
  assert.is(restoreReferences(sent, out.text), text);
});

test('makes no reference to our own markers, or to short runs of lines', () => {
  const sent = new SentLines();
  sent.add(
    'result 1',
    ['a', '[svc omitted 3 of 9 lines here (lines 1–3); the source is complete]', 'b'].join('\n'),
  );
  assert.is(sent.replaceRepeats('a\nb\nc\nd'), undefined);
  sent.add('result 2', 'x\ny\nz');
  assert.is(sent.replaceRepeats('x\ny\nz'), undefined);
});

test('refers to a single long line, unless a longer run begins below it', () => {
  const long = 'a warning 17.4 (E0231) that a tool prints whenever it is called; '.repeat(3);
  const sent = new SentLines();
  sent.add('result 1 (make)', ['begin', long, 'end'].join('\n'));
  sent.add('result 2 (a.ts)', FILE.join('\n'));
  const later = ['x', long, ...FILE.slice(5, 20), long, 'y'].join('\n');
  const out = sent.replaceRepeats(later)!;
  assert.is(
    out.text,
    [
      'x',
      '[svc line 2 of result 1 (make) again]',
      '[svc result 2 (a.ts), lines 6-20]',
      '[svc result 1 (make), line 2]',
      'y',
    ].join('\n'),
  );
  assert.is(restoreReferences(sent, out.text), later);
});

test('recognises a numbered view inside a wrapper, even after its numbers were thinned out', () => {
  const wrapped = (text: string): string => `<code>0</code>\n<output>\n${text}\n</output>`;
  const sent = new SentLines();
  sent.add('result 1 (a.ts)', thinGutter(wrapped(numbered(FILE.slice(0, 20), 1)))!);
  const later = wrapped(numbered(FILE.slice(4, 24), 5));
  const out = sent.replaceRepeats(later)!;
  assert.match(out.text, '[svc lines numbered 5–20 in result 1 (a.ts) again');
  assert.is(out.text.split('\n').length, 8);
  assert.is(restoreReferences(sent, out.text), later);
  const thinner = thinGutter(out.text) ?? out.text;
  assert.is(restoreReferences(sent, thinner), later);
});

test('introduces a label in the first reference and abbreviates later ones; all can be resolved', () => {
  const sent = new SentLines();
  const other = FILE.map((line) => line.replace('compute', 'measure'));
  sent.add('result 1 (read: a.ts)', FILE.join('\n'));
  sent.add('result 2 (b.ts:3)', numbered(other, 1));
  const later = [...FILE.slice(0, 9), 'x', ...other.slice(4, 9), 'y', ...FILE.slice(20, 30)];
  const first = sent.replaceRepeats(later.join('\n'))!;
  assert.equal(
    first.text.split('\n').filter((line) => line.length > 1),
    [
      '[svc lines 1–9 of result 1 (read: a.ts) again]',
      '[svc result 2 (b.ts:3), lines 5-9, without numbers]',
      '[svc result 1 (read: a.ts), lines 21-30]',
    ],
  );
  assert.is(restoreReferences(sent, first.text), later.join('\n'));
  sent.introduce(first.labels);
  const view = numbered(other.slice(10, 20), 11, '→');
  const second = sent.replaceRepeats(`${view}\nz`)!;
  assert.is(second.text, '[svc result 2 (b.ts:3), lines 11-20, numbered from "    11→"]\nz');
  assert.is(restoreReferences(sent, second.text), `${view}\nz`);
});

test('can always restore repeated lines, of the same text or an earlier one', () => {
  const line = fc.constantFrom(
    ...FILE.slice(0, 6),
    '',
    '}',
    'a line of more than forty characters, which is worth a name of its own',
    "const quoted = '[svc result 1:1-3]'; // and more than forty characters",
  );
  fc.assert(
    fc.property(fc.array(fc.array(line, { maxLength: 30 }), { maxLength: 6 }), (texts) => {
      const sent = new SentLines();
      texts.forEach((lines, at) => {
        const text = lines.join('\n');
        const out = sent.replaceRepeats(text);
        assert.is(restoreReferences(sent, out?.text ?? text), text);
        assert.ok(estimateTokens(out?.text ?? text) <= estimateTokens(text));
        if (out !== undefined) sent.introduce(out.labels);
        sent.add(`result ${at + 1} (f${at}.ts)`, out?.text ?? text);
      });
    }),
    { seed: 5, numRuns: 400 },
  );
});

test('counts the omitted lines when it refers to a text with gaps', () => {
  const lines = Array.from({ length: 90 }, (_, n) => `a line of its own, the ${n + 1}th of many`);
  const before = [
    lines[0],
    '[svc omitted 29 of 90 lines here (lines 2–30); the source is complete]',
    ...lines.slice(30, 50),
    '[svc omitted lines 51–60]',
    lines[60],
    '[svc the line above 19 more times]',
    ...lines.slice(80),
  ].join('\n');
  const sent = new SentLines();
  sent.add('result 1 (make)', before);
  const text = [...lines.slice(35, 45), 'between', ...lines.slice(80)].join('\n');
  const out = sent.replaceRepeats(text)!;
  assert.is(
    out.text,
    '[svc lines 36–45 of result 1 (make) again]\nbetween\n[svc result 1 (make), lines 81-90]',
  );
  assert.is(restoreReferences(sent, out.text), text);
});

test('uses one reference for a view and the text below it if they were together before', () => {
  const view = `${numbered(FILE.slice(0, 20), 1)}\n\nThe file above is shown in whole; say which part of it you need next time.`;
  const sent = new SentLines();
  sent.add('result 1 (a.ts)', view);
  const again = sent.replaceRepeats(view)!;
  assert.is(again.text, '[svc lines 1–22 of result 1 (a.ts) again]');
  assert.is(restoreReferences(sent, again.text), view);
  const moved = view.replaceAll(
    /^ +(\d+)\t/gm,
    (_, n) => `${String(Number(n) + 50).padStart(6)}\t`,
  );
  const other = sent.replaceRepeats(moved)!;
  assert.match(other.text, '[svc lines 1–20 of result 1 (a.ts) again, numbered from "    51\t"]');
  assert.is(restoreReferences(sent, other.text), moved);
});

test('keeps a horizontal rule between paragraphs', () => {
  const rule = '─'.repeat(80);
  assert.is(new SentLines().replaceRepeats(`a\n${rule}\nb\n${rule}\nc`), undefined);
});

test.run();
