import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { builtIn } from '../built-in.ts';
import { foldListing, unfoldListing } from './fold-listing.ts';
import { foldSections, unfoldSections } from './sections.ts';
import { survivesRoundTrip } from '../../../../fixtures/compress/any-lines.ts';
import { contextFor } from '../../../../fixtures/compress/texts.ts';
import { unfoldRepeats } from '../../decode/decoders.ts';

const CONTEXT = contextFor('listing');

test('restores any lines at all, or leaves them alone', () => {
  survivesRoundTrip((text) => foldListing(text, CONTEXT)?.text, unfoldListing);
});

test('factors out the common start and end of names that differ in the middle', () => {
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

test('writes repeated columns of ls -l once', () => {
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

/** `ls -l` of GNU and BSD in several locales, with plain and human-readable sizes. */
const LONG: Readonly<Record<string, (at: number) => string>> = {
  'GNU, as root': (at) =>
    `drwxr-xr-x ${String((at * 7) % 30).padStart(2)} root root ${String(at * 997).padStart(5)} Nov 23 10:5${at % 3} folder-${at}`,
  'GNU, of last year': (at) => `-rw-r--r-- 1 me users ${1000 + at} Nov  3  2024 notes ${at}.txt`,
  'GNU, two groups': (at) =>
    `-rw-r--r-- 1 me ${at % 2 === 0 ? 'docker' : 'me    '} ${String(at * 90).padStart(4)} Nov 13 10:51 file-${at}`,
  'GNU, -h': (at) =>
    `-rw-r--r-- 1 me me ${`${at % 2 ? '4.0' : '121'}${'KM'[at % 2]}`.padStart(4)} Nov 13 10:51 file-${at}`,
  macOS: (at) =>
    `${at % 3 ? '-rw-r--r-- ' : 'drwxr-xr-x@'} ${String(at * 3).padStart(2)} kim  staff  ${String(at * 313).padStart(6)} Sep  3 09:53 file-${at}.ts`,
  'macOS, -h': (at) =>
    `-rw-r--r--  1 kim  staff  ${`${at * 9}${'BK'[at % 2]}`.padStart(5)} Sep  3 09:53 file-${at}`,
  'macOS in Japanese': (at) =>
    `-rw-r--r--  1 kim staff ${String(at * 313).padStart(6)}  9  3 09:53 file-${at}.ts`,
  French: (at) => `-rw-r--r-- 1 me me ${1000 + at}  3 sept. 09:53 file-${at}`,
  British: (at) => `-rw-r--r--  1 me  staff  ${1000 + at}  3 Sep 09:53 file-${at}`,
  'long-iso': (at) => `-rw-rw-r--+ 1 me me ${1000 + at} 2026-09-03 09:53 file-${at} -> ../b ${at}`,
  'full-iso': (at) =>
    `-rw-rw-r-- 1 me me ${1000 + at} 2026-09-03 09:53:01.123456789 +0200 file-${at}`,
};

test('writes repeated columns of ls -l once, for every system and locale', () => {
  for (const [name, row] of Object.entries(LONG)) {
    const text = ['total 64', ...Array.from({ length: 12 }, (_, at) => row(at + 1))].join('\n');
    const out = foldListing(text, CONTEXT)?.text ?? text;
    assert.is(unfoldListing(out), text, name);
    assert.match(out, 'ls -l, complete: a=', name);
    assert.ok(out.length < text.length * 0.7, `${name}: ${out.length} of ${text.length}`);
  }
});

test('gives a link count only where it differs from that of most rows', () => {
  const row = (links: number, name: string): string =>
    `drwxr-xr-x ${String(links).padStart(2)} me me 4096 Nov 23 10:51 ${name}`;
  const text = [row(2, 'a'), row(2, 'b'), row(14, 'c'), row(3, '2 d')].join('\n');
  assert.is(
    foldListing(text, CONTEXT)?.text,
    [
      '[svc ls -l, complete: a=drwxr-xr-x 2 me me, A=Nov 23 10:51, a14=a with 14 links, widths 13 7]',
      'aA 4096 a',
      'aA 4096 b',
      'a14A 4096 c',
      'a3A 4096 2 d',
    ].join('\n'),
  );
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

test('turns a recursive listing into a tree with one line per directory', () => {
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

test('restores any lines with headings, or leaves them alone', () => {
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

test('replaces equal lines that are classified as a listing by one line and a count', () => {
  const context = { ...CONTEXT, hints: { toolName: 'Bash', command: 'npm test' } };
  const text = Array.from({ length: 60 }, () => 'part /health 200 ok ok ok ok ok ok ok ok ').join(
    '\n',
  );
  const out = builtIn.apply(text, context);
  assert.is(out.classification.kind, 'listing');
  assert.equal(out.by, ['repeats']);
  assert.is(out.text.split('\n').length, 2);
  assert.is(unfoldRepeats(out.text), text);
});

test.run();
