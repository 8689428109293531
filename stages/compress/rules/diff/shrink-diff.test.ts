import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { estimateTokens } from '../../../model/tokens.ts';
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

test('writes the sign of a whole new file once, followed by its plain lines', () => {
  const added = SOURCE_LINES.map((line) => `+${line}`);
  const diff = diffOf('src/new.ts', added);
  const out = shrinkDiff(diff, CONTEXT)!.text;
  const [header, name, head, ...rest] = out.split('\n');
  assert.match(header!, '"@@+9" / "@@-9" = 9 added / removed lines');
  assert.is(name, '*** src/new.ts (new file mode 100644)');
  assert.is(head, '@@+60');
  assert.equal(rest, [...SOURCE_LINES, '']);
  assert.equal(changesOf(unpackSigns(out)), added);
  assert.ok(estimateTokens(out) < estimateTokens(diff));
});

test('packs a deleted file and a long replaced run, but leaves a small edit signed', () => {
  const gone = diffOf(
    'a.ts',
    SOURCE_LINES.map((line) => `-${line}`),
  );
  assert.match(shrinkDiff(gone, CONTEXT)!.text, '(deleted file mode 100644)\n@@-60\n');
  const both = [
    ' before',
    ...SOURCE_LINES.slice(0, 50).map((line) => `-${line}`),
    ...SOURCE_LINES.slice(0, 49).map((line) => `+${line}`),
    ' between',
    '-one',
    '+other',
    ' after',
  ];
  const out = shrinkDiff(diffOf('b.ts', both, ' f() {'), CONTEXT)!.text;
  assert.match(out, '@@ -1,54 +1,53 @@ f() {\n before\n@@-50\n');
  assert.match(out, '\n-one\n+other\n after');
  assert.equal(changesOf(unpackSigns(out)), changesOf(diffOf('b.ts', both)));
});

test('does not repeat the heading of consecutive hunks, or paths that are stated twice', () => {
  const hunk = (at: number): string =>
    `@@ -${at},7 +${at},7 @@ class Long {\n a\n b\n c\n-x${at}\n+y${at}\n d\n e\n f`;
  const head =
    'diff --git a/old.ts b/new.ts\nindex 1234567..89abcde 100644\n--- a/old.ts\n+++ b/new.ts';
  const out = shrinkDiff(`${head}\n${hunk(10)}\n${hunk(50)}\n`, CONTEXT)!.text;
  assert.is(out.split('class Long {').length, 2);
  assert.match(out, '@@ -52,3 +52,3 @@\n c\n-x50');
  assert.match(out, 'kept; the source is complete]\n--- a/old.ts\n+++ b/new.ts\n@@ -12,3');
});

test('packs nothing if a line looks like the head of a packed run', () => {
  const diff = `@@+3\n${diffOf(
    'c.ts',
    SOURCE_LINES.map((line) => `+${line}`),
  )}`;
  const out = shrinkDiff(diff, CONTEXT)?.text ?? diff;
  assert.match(out, "\n+const value0 = call(0, 'some text');\n");
});

const changes = fc.array(
  fc.tuple(fc.constantFrom('+', '-', ' '), fc.integer({ min: 1, max: 14 })),
  { minLength: 1, maxLength: 12 },
);
const content = fc.constantFrom(
  '',
  '}',
  '  return x;',
  '@@+2',
  '-- a/x',
  '++ b/x',
  '\tlong line of text',
);

/** Returns every line under a hunk header with its numbers in the old and the new file. */
function numberedLines(diff: string): readonly string[] {
  let [old, fresh] = [0, 0];
  return diff.split('\n').flatMap((line) => {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (head !== null) {
      [old, fresh] = [Number(head[1]), Number(head[2])];
      return [];
    }
    if (!/^[-+ ]/.test(line) || old + fresh === 0) return [];
    const numbered = `${line[0] === '+' ? '' : old++}|${line[0] === '-' ? '' : fresh++}|${line}`;
    return [numbered];
  });
}

test('gives a shortened hunk correct line numbers', () => {
  const sides = fc.array(
    fc.tuple(fc.constantFrom('+', '-', ' '), fc.integer({ min: 1, max: 12 })),
    { minLength: 1, maxLength: 16 },
  );
  fc.assert(
    fc.property(sides, fc.integer({ min: 2, max: 5000 }), (runs, start) => {
      let at = 0;
      const lines = runs.flatMap(([sign, count]) =>
        Array.from({ length: count }, () => `${sign}some line with the number ${at++}`),
      );
      const moved = diffOf('a.ts', [' first', ...lines, ' last'])
        .replace('@@ -1,', `@@ -${start},`)
        .replace(' +1,', ` +${start + 3},`);
      const out = unpackSigns(shrinkDiff(moved, CONTEXT)?.text ?? moved);
      const known = new Set(numberedLines(moved));
      const kept = numberedLines(out);
      for (const line of kept) assert.ok(known.has(line), line);
      const changed = (all: readonly string[]): readonly string[] =>
        all.filter((line) => !/^\d+\|\d+\|/.test(line));
      assert.equal(changed(kept), changed(numberedLines(moved)));
    }),
    { seed: 2, numRuns: 300 },
  );
});

test('keeps the changes of any diff in order, is idempotent, and makes it neither larger nor empty', () => {
  fc.assert(
    fc.property(changes, fc.array(content, { minLength: 5, maxLength: 40 }), (runs, pool) => {
      let at = 0;
      const lines = runs.flatMap(([sign, count]) =>
        Array.from({ length: count }, () => sign + pool[at++ % pool.length]!),
      );
      const diff = diffOf('src/any.ts', lines);
      const out = shrinkDiff(diff, CONTEXT)?.text ?? diff;
      assert.equal(changesOf(unpackSigns(out)), changesOf(diff));
      const applied = builtIn.apply(diff, { ...CONTEXT, hints: { command: 'git diff' } }).text;
      assert.ok(applied.trim() !== '' && estimateTokens(applied) <= estimateTokens(diff));
      assert.is(
        builtIn.apply(applied, { ...CONTEXT, hints: { command: 'git diff' } }).text,
        applied,
      );
    }),
    { seed: 11, numRuns: 300 },
  );
});

const DIFF = `diff --git a/src/a.ts b/src/a.ts
index 1234567..89abcde 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -10,9 +10,9 @@ export function a() {
 one
 two
 three
-old
+new
 four
 five
 six
-- dash line
+++ plus line
 seven
diff --git a/package-lock.json b/package-lock.json
index 1234567..89abcde 100644
--- a/package-lock.json
+++ b/package-lock.json
@@ -1,4 +1,4 @@
 {
-  "a": 1,
+  "a": 2,
   "b": 1
 }
`;

test('keeps every + and - line of source code, with correct line numbers', () => {
  const out = shrinkDiff(DIFF, CONTEXT)!.text;
  const lines = out.split('\n');
  for (const kept of ['-old', '+new', '-- dash line', '+++ plus line'])
    assert.ok(lines.includes(kept), kept);
  assert.match(out, '@@ -12,7 +12,7 @@ export function a() {');
  assert.match(out, 'generated file: 1 hunks with 1 added and 1 removed lines left out');
  assert.not.match(out, 'index 1234567');
  assert.not.match(out, '"b": 1');
});

test('leaves a hunk unchanged whose counts do not add up', () => {
  const broken = DIFF.replace('@@ -10,9 +10,9 @@', '@@ -10,90 +10,9 @@');
  const out = shrinkDiff(broken, CONTEXT)?.text ?? broken;
  for (const line of ['one', 'two', 'three', 'six']) assert.match(out, ` ${line}\n`);
});

test.run();
