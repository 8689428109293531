import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { estimateTokens } from '../../model/tokens.ts';
import { groupGrep, ungroupGrep } from '../grep/group-grep.ts';
import { nameSameHits, unnameHits } from '../grep/same-hits.ts';
import { foldListing, unfoldListing } from './fold-listing.ts';
import { foldSections, unfoldSections } from './sections.ts';
import { shrinkDiff } from '../diff/shrink-diff.ts';
import { shortenTraces } from '../trace/shorten-traces.ts';
import { contextFor } from '../testing.ts';

const CONTEXT = contextFor('grep');

const GREP = [
  'src/server/app.ts:12:export const app = 1;',
  'src/server/app.ts-13-  next line',
  'src/server/app.ts:99:  app();',
  '--',
  'src/server/gate.ts:4:import { app } from "./app.ts"; // a:b:c',
  'src/lib/a-1-b.ts:7:app',
  'src/lib/a-1-b.ts-8-more',
  '',
].join('\n');

test('hits are grouped by file, every path and line number comes back', () => {
  const out = groupGrep(GREP.repeat(3), CONTEXT)!.text;
  assert.is(ungroupGrep(out), GREP.repeat(3));
  assert.match(out, 'all below src/');
  assert.is(groupGrep('no hits here\n', CONTEXT), undefined);
});

test('hits without numbers, and lines that are no hits, come back too', () => {
  const text = Array.from(
    { length: 8 },
    (_, n) => `./pkg/long/path/to/module-${n % 2}.py:import os, sys  # ${n}`,
  )
    .concat(['Binary file ./pkg/x.bin matches', '</output_head>', '12:34 odd', 'name'])
    .join('\n');
  const out = groupGrep(text, CONTEXT)!.text;
  assert.is(ungroupGrep(out), text);
});

test('the same hit in many files is written once', () => {
  const text = ['de', 'fi', 'sl', 'vi', 'zh', 'ko', 'ja', 'it']
    .map((name) => `app/locale/${name}/messages.po:msgid "not found"`)
    .join('\n');
  const out = groupGrep(text, CONTEXT)!.text;
  assert.match(out, '= {de,fi,sl,vi,zh,ko,ja,it}/messages.po\n:msgid "not found"');
  assert.is(ungroupGrep(out), text);
});

test('hits that say the same are named by the line that says it, and come back', () => {
  const define = '    def database_forwards(self, app_label, schema_editor, from_state):';
  const text = [93, 352, 401, 530].map((n) => `${n}:${define}`).join('\n');
  const out = nameSameHits(`${text}\n12:other\n`, CONTEXT)!.text;
  assert.equal(out.split('\n').slice(1), [
    `93:${define}`,
    '352:=93',
    '401:=93',
    '530:=93',
    '12:other',
    '',
  ]);
  assert.is(unnameHits(out), `${text}\n12:other\n`);
  assert.is(nameSameHits(`${text}\n7:=93\n`, CONTEXT), undefined);
  const view = Array.from({ length: 40 }, (_, n) => `${n + 1}:${define}`).join('\n');
  assert.is(nameSameHits(view, CONTEXT), undefined, 'a view of a file is no list of hits');
});

test('any hits that say the same come back', () => {
  const hit = fc.tuple(
    fc.integer({ min: 1, max: 9 }),
    fc.constantFrom(
      'const one = compute(a.long.name);',
      'const two = compute(a.longer.name, 2);',
      '=3',
      '',
    ),
  );
  fc.assert(
    fc.property(fc.array(hit, { maxLength: 30 }), (hits) => {
      const text = hits.map(([number, content]) => `${number}:${content}`).join('\n');
      const out = nameSameHits(text, CONTEXT)?.text ?? text;
      assert.is(unnameHits(out) ?? out, text);
      assert.ok(estimateTokens(out) <= estimateTokens(text));
    }),
    { seed: 9, numRuns: 500 },
  );
});

test('any lines at all come back or are left alone', () => {
  const piece = fc.constantFrom(
    'a.ts',
    'src/',
    'src/a.ts',
    ':1:',
    ':22:',
    '-3-',
    'x',
    '\t',
    ' ',
    '',
    '{a,b}',
    './',
  );
  const line = fc.array(piece, { maxLength: 5 }).map((parts) => parts.join(''));
  const text = fc.array(line, { minLength: 3, maxLength: 14 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, (sample) => {
      const grouped = groupGrep(sample, CONTEXT);
      if (grouped !== undefined) assert.is(ungroupGrep(grouped.text), sample);
      const folded = foldListing(sample, CONTEXT);
      if (folded !== undefined) assert.is(unfoldListing(folded.text), sample);
    }),
    { numRuns: 500, seed: 11 },
  );
});

test('names that differ in the middle share what is around it', () => {
  const names = ['inventory', 'jsdump', 'logging', 'matching', 'nodes', 'rst'].map(
    (name) => `tests/test_util_${name}.py`,
  );
  const text = [
    'README.md',
    ...names,
    ...names.map((name) => name.replace('tests', 'old/tests')),
    '',
  ].join('\n');
  const out = foldListing(text, CONTEXT)!.text;
  assert.match(out, 'test_util_{inventory,jsdump,logging,matching,nodes,rst}.py');
  assert.is(unfoldListing(out), text);
});

test('columns of ls -l are written once', () => {
  const row = (size: number, name: string): string =>
    `-rw-r--r--  1 me   staff ${String(size).padStart(6)} Nov 20 23:14 ${name}`;
  const text = [
    'total 64',
    'drwxr-xr-x 12 me   staff   4096 Nov 20 23:14 .',
    ...[1, 22, 333, 123456].map((n) => row(n, `file ${n}.txt`)),
    '',
  ].join('\n');
  const out = foldListing(text, CONTEXT)!.text;
  assert.is(unfoldListing(out), text);
  assert.ok(out.length < text.length * 0.8);
});

const RECURSIVE = [
  '.:',
  'README.md',
  'docs',
  'src',
  '',
  './docs:',
  '',
  './src:',
  'app.ts',
  'deep',
  '',
  './src/deep:',
  'a_test.ts',
  'b_test.ts',
  '',
  './src/other/far:',
  'x y.ts',
  'sorted:',
  '',
  '/elsewhere:',
  'z.ts',
  '',
].join('\n');

test('a recursive listing becomes a tree, every directory on a line', () => {
  const tree = foldSections(RECURSIVE.split('\n'))!;
  assert.is(unfoldSections(tree).join('\n'), RECURSIVE);
  assert.equal(tree.slice(0, 5), [
    '.: README.md docs src',
    ' docs:',
    ' src: app.ts deep',
    '  deep: {a,b}_test.ts',
    '  other/far:',
  ]);
  const folders = Array.from(
    { length: 30 },
    (_, n) => `./src/parts/of/it/part${n}:\nindex.ts\nindex_test.ts\n`,
  );
  const text = `.:\nsrc\n\n./src/parts/of/it:\nparts\n\n${folders.join('\n')}`;
  const out = foldListing(text, CONTEXT)!.text;
  assert.is(unfoldListing(out), text);
  assert.ok(out.length < text.length * 0.8, String(out.length / text.length));
});

const treeLine = fc.constantFrom(
  '',
  '.:',
  './a:',
  './a/b:',
  './a/b/c:',
  '/x:',
  'a:b:',
  'sorted:',
  'name.ts',
  'other.ts',
  'with blank',
  '{x}',
  ' lead',
  '\ttab',
);

test('any lines with headings come back or are left alone', () => {
  fc.assert(
    fc.property(fc.array(treeLine, { maxLength: 40 }), (lines) => {
      const text = lines.join('\n');
      const tree = foldSections(lines);
      if (tree !== undefined) assert.is(unfoldSections(tree).join('\n'), text);
      const out = foldListing(text, CONTEXT)?.text ?? text;
      assert.is(unfoldListing(out) ?? out, text);
      assert.ok(out.length <= text.length);
    }),
    { seed: 3, numRuns: 600 },
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

test('a diff keeps every + and - line of source, with true line numbers', () => {
  const out = shrinkDiff(DIFF, CONTEXT)!.text;
  const lines = out.split('\n');
  for (const kept of ['-old', '+new', '-- dash line', '+++ plus line'])
    assert.ok(lines.includes(kept), kept);
  assert.match(out, '@@ -12,7 +12,7 @@ export function a() {');
  assert.match(out, 'generated file: 1 hunks with 1 added and 1 removed lines left out');
  assert.not.match(out, 'index 1234567');
  assert.not.match(out, '"b": 1');
});

test('a hunk that does not add up is left as it is', () => {
  const broken = DIFF.replace('@@ -10,9 +10,9 @@', '@@ -10,90 +10,9 @@');
  const out = shrinkDiff(broken, CONTEXT)?.text ?? broken;
  for (const line of ['one', 'two', 'three', 'six']) assert.match(out, ` ${line}\n`);
});

test('frames inside libraries go; messages, own frames, first and last frame stay', () => {
  const library = Array.from(
    { length: 12 },
    (_, n) =>
      `  File "/venv/lib/python3.12/site-packages/lib/m${n}.py", line ${n}, in f${n}\n    call(${n})`,
  );
  const text = [
    'Traceback (most recent call last):',
    '  File "/app/main.py", line 3, in <module>\n    run()',
    ...library,
    '  File "/app/job.py", line 9, in job\n    raise KeyError(1)',
    'KeyError: 1',
    '',
  ].join('\n');
  const out = shortenTraces(text, CONTEXT)!;
  for (const kept of ['/app/main.py', '/app/job.py', 'KeyError: 1', 'Traceback'])
    assert.match(out.text, kept);
  assert.not.match(out.text, 'm5.py');
  assert.match(out.text, 'omitted 24 of');
  assert.equal(out.removed, [{ from: 3, to: 27 }]);
});

test.run();
