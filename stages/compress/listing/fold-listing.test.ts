import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { builtIn } from '../built-in.ts';
import { unfoldRepeats } from '../text/repeats.ts';
import { foldListing, unfoldListing } from './fold-listing.ts';
import { foldSections, unfoldSections } from './sections.ts';
import { comesBack } from '../../../fixtures/compress/any-lines.ts';
import { contextFor } from '../../../fixtures/compress/texts.ts';

const CONTEXT = contextFor('listing');

test('any lines at all come back or are left alone', () => {
  comesBack((text) => foldListing(text, CONTEXT)?.text, unfoldListing);
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

test('equal lines that are taken for a listing become one and a count', () => {
  const context = { ...CONTEXT, hints: { toolName: 'Bash', command: 'npm test' } };
  const text = Array.from({ length: 60 }, () => 'GET /health 200 ok ok ok ok ok ok ok ok ').join(
    '\n',
  );
  const out = builtIn.apply(text, context);
  assert.is(out.classification.kind, 'listing');
  assert.equal(out.by, ['repeats']);
  assert.is(out.text.split('\n').length, 2);
  assert.is(unfoldRepeats(out.text), text);
});

test.run();
