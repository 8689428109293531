/**
 * Diffs that must not be shortened: unusual or inconsistent ones, and those that look like others.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtIn } from '../built-in.ts';
import { shrinkDiff } from './shrink-diff.ts';
import {
  SOURCE_LINES,
  changesOf,
  contextFor,
  diffOf,
} from '../../../../fixtures/compress/texts.ts';
import { unpackSigns } from '../../decode/decoders.ts';

const CONTEXT = contextFor('diff');

/** Returns one change with three lines of context on either side. */
function hunkAt(start: number, name: string, heading = ''): string {
  const side = (from: number): string =>
    Array.from({ length: 3 }, (_, n) => ` the quiet line ${from + n} of ${name}`).join('\n');
  return `@@ -${start},7 +${start},7 @@${heading}\n${side(start)}\n-old ${name}\n+new ${name}\n${side(start + 4)}`;
}
const HUNKS = (name: string, heading = ''): string =>
  [10, 50, 90, 130].map((start) => hunkAt(start, name, heading)).join('\n');

test('leaves a diff unchanged if it marks changes inside lines, or has no signed line', () => {
  const words = (line: (n: number) => string): string =>
    `diff --git a/a.md b/a.md\nindex 1234567..89abcde 100644\n--- a/a.md\n+++ b/a.md\n${[10, 50, 90]
      .map(
        (start) =>
          `@@ -${start},7 +${start},7 @@ # Head\n${Array.from({ length: 7 }, (_, n) => (n === 1 || n === 5 ? line(n) : ` some quiet line ${n}`)).join('\n')}`,
      )
      .join('\n')}\n`;
  for (const text of [
    words((n) => ` the [-old-]{+new+} word ${n}`),
    words((n) => ` glued oldnew word ${n}`),
    words((n) => ` \u001b[31mold\u001b[m\u001b[32mnew\u001b[m word ${n}`),
  ])
    assert.is(
      builtIn.apply(text, { ...CONTEXT, hints: { command: 'git diff --word-diff' } }).text,
      text,
    );
  const porcelain = words(() => '-old\n+new\n~');
  assert.is(shrinkDiff(porcelain, CONTEXT)?.text.includes('less context') ?? false, false);
  // Word marks next to line signs: a list in a file, printed as a word diff.
  const mixed = `${HUNKS('x')}\n@@ -200,7 +200,7 @@\n a\n b [-gone-]{+come+}\n c\n d\n-e\n+f\n g\n h\n`;
  assert.match(shrinkDiff(mixed, CONTEXT)!.text, ' b [-gone-]{+come+}');
});

test('repeats the section heading for every file, whatever the form of the file header', () => {
  const heads: readonly ((name: string) => string)[] = [
    (name) => `diff -urp a/${name} b/${name}\n--- a/${name}\t2024-01-01\n+++ b/${name}\t2024-01-02`,
    (name) => `--- ${name}.orig\n+++ ${name}`,
    (name) =>
      `Index: ${name}\n${'='.repeat(67)}\n--- ${name}\t(revision 1)\n+++ ${name}\t(working copy)`,
    (name) => `diff -r 0123456789ab ${name}\n--- a/${name}\n+++ b/${name}`,
    (name) => `diff --git ${name} ${name}\nindex 1..2\n--- ${name}\n+++ ${name}`,
    (name) => `In ${name} this goes:`,
  ];
  for (const head of heads) {
    const text = ['x.c', 'y.c', 'z.c']
      .map((name) => `${head(name)}\n${HUNKS(name, ' int main(void)')}\n`)
      .join('');
    const out = shrinkDiff(text, CONTEXT)!.text;
    assert.is(out.split('int main(void)').length, 4, head('x.c'));
    for (const name of ['x.c', 'y.c', 'z.c'])
      assert.match(out, `${head(name)}\n@@ -12,3 +12,3 @@ int main(void)`);
  }
});

test('leaves a hunk with wrong counts in its header unchanged', () => {
  const more = `--- a\n+++ b\n${hunkAt(10, 'x')}\n+one more that nobody counted\n and its context\n${HUNKS('y')}\n`;
  assert.match(shrinkDiff(more, CONTEXT)!.text, `${hunkAt(10, 'x')}\n+one more`);
  const later = `--- a\n+++ b\n${hunkAt(10, 'x')}\n\n+one more behind a line that lost its blank\n${HUNKS('y')}\n`;
  assert.match(shrinkDiff(later, CONTEXT)!.text, `${hunkAt(10, 'x')}\n\n+one more`);
  const next = `--- a\n+++ b\n${hunkAt(10, 'x').replace('7 +10,7', '8 +10,8')}\n--- c\n+++ d\n${HUNKS('y')}\n`;
  const out = shrinkDiff(next, CONTEXT)!.text;
  assert.match(out, `${hunkAt(10, 'x').replace('7 +10,7', '8 +10,8')}\n--- c\n+++ d\n@@ `);
});

test('does not count a mail signature or the next file as lines of a hunk', () => {
  const mail = `diff --git a/a.c b/a.c\nindex 1..2 100644\n--- a/a.c\n+++ b/a.c\n${HUNKS('a')}\n-- \n2.43.0\n\n`;
  const out = shrinkDiff(mail.repeat(2), CONTEXT)!.text;
  assert.is(out.split('\n').filter((line) => line.startsWith(' ')).length, 16);
  assert.is(out.split('\n-- \n2.43.0').length, 3);
});

test('keeps the position of insertions at the top without context, except in new and deleted files', () => {
  const added = SOURCE_LINES.slice(0, 20).map((line) => `+${line}`);
  const top = `--- a/x.ts\n+++ b/x.ts\n@@ -0,0 +1,20 @@\n${added.join('\n')}\n@@ -40 +60 @@\n-a\n+b\n`;
  const out = shrinkDiff(top.repeat(3), CONTEXT)?.text ?? top;
  assert.match(out, '@@ -0,0 +1,20 @@\n');
});

test('keeps line endings, and packs no line that would look signed or like a header', () => {
  const text = `--- a/x.c\n+++ b/x.c\n${HUNKS('x', ' int f(void)')}\n`
    .repeat(2)
    .replaceAll('\n', '\r\n');
  const [, ...lines] = shrinkDiff(text, CONTEXT)!.text.split('\n');
  for (const line of lines.slice(0, -1)) assert.ok(line.endsWith('\r'), line);
  const notes = [
    ...SOURCE_LINES.slice(0, 20),
    '- a bullet',
    '+ another',
    '@@ -1 +1 @@',
    '*** stars',
    ...SOURCE_LINES.slice(0, 20),
  ];
  const added = notes.map((line) => `+${line}`);
  const out = shrinkDiff(diffOf('notes.md', added), CONTEXT)!.text;
  for (const line of ['+- a bullet', '++ another', '+@@ -1 +1 @@', '+*** stars'])
    assert.match(out, `\n${line}\n`);
  assert.equal(changesOf(unpackSigns(out)), added);
});

test('counts the changes in generated files, and does not claim that all lines were kept', () => {
  const lock = diffOf(
    'package-lock.json',
    [' {', '-  "a": 1,', '+  "a": 2,', ' }'].concat(SOURCE_LINES.map((line) => `+${line}`)),
  );
  const source = diffOf(
    'a.ts',
    SOURCE_LINES.map((line) => `+${line}`),
  );
  const out = shrinkDiff(source + lock, CONTEXT)!.text;
  assert.match(out, 'all + and - lines of source kept');
  const binary = `diff --git a/bun.lockb b/bun.lockb\nindex ${'1'.repeat(40)}..${'2'.repeat(40)} 100644\nBinary files a/bun.lockb and b/bun.lockb differ\n`;
  const both = shrinkDiff(binary + source, CONTEXT)!;
  assert.equal(both.removed, []);
  assert.match(both.text, 'Binary files a/bun.lockb');
});

test('shows the changes in a generated file if they are the only ones, or were asked for', () => {
  const changed = [' {', '-  "a": 1,', '+  "a": 2,', ' }'];
  const source = diffOf(
    'a.ts',
    SOURCE_LINES.map((line) => `+${line}`),
  );
  for (const path of ['package-lock.json', 'go.sum', 'src/__snapshots__/a.test.js.snap']) {
    const own = diffOf(path, changed.concat(SOURCE_LINES.map((line) => `+${line}`)));
    const cases: readonly (readonly [string, object])[] = [
      [own, {}],
      [source + own, { call: `git diff -- a.ts ${path}` }],
      [source + own, { query: 'Did the lock file or a snapshot change?' }],
      [source + own, { query: `What is new in ${path}?` }],
    ];
    for (const [text, asking] of cases)
      assert.match(shrinkDiff(text, { ...CONTEXT, ...asking })?.text ?? text, '"a": 2', path);
    assert.not.match(shrinkDiff(source + own, CONTEXT)!.text, '"a": 2');
  }
});

test('keeps every line of combined, coloured and binary diffs', () => {
  const combined = `diff --cc x.c\nindex 1,2..3\n--- a/x.c\n+++ b/x.c\n@@@ -1,6 -1,6 +1,7 @@@ main\n  c1\n  c2\n- old\n -old2\n++new\n  c4\n  c5\n  c6\n`;
  const coloured = `\u001b[36m@@ -1,7 +1,7 @@\u001b[m\n a\n b\n c\n\u001b[31m-d\u001b[m\n\u001b[32m+e\u001b[m\n f\n g\n h\n`;
  const binary = `GIT binary patch\ndelta 6\nNcmZ3;v5lNk+0\n\ndelta 6\nNcmZ3;v5lNk-0\n\n`;
  const out = shrinkDiff(
    `${combined}${coloured}${binary}--- a\n+++ b\n${HUNKS('y')}\n`,
    CONTEXT,
  )!.text;
  for (const part of [combined, coloured, binary]) assert.ok(out.includes(part), part);
});

test.run();
