import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { estimateTokens } from '../../../model/tokens.ts';
import { builtIn } from '../built-in.ts';
import { groupGrep, ungroupGrep } from './group-grep.ts';
import { referToSameHits } from './same-hits.ts';
import { survivesRoundTrip } from '../../../../fixtures/compress/any-lines.ts';
import { contextFor } from '../../../../fixtures/compress/texts.ts';
import { expandHits } from '../../decode/decoders.ts';

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

test('groups hits by file, so that every path and line number can be restored', () => {
  const out = groupGrep(GREP.repeat(3), CONTEXT)!.text;
  assert.is(ungroupGrep(out), GREP.repeat(3));
  assert.match(out, 'all below src/');
  assert.is(groupGrep('no hits here\n', CONTEXT), undefined);
});

test('keeps absolute and relative paths in separate directories', () => {
  for (const first of ['/app/src/a.ts', '/a.ts']) {
    const hits = [first, '/app/src/b.ts', 'c.ts', '/app/src/d.ts'];
    const text = hits.map((path, at) => `${path}:${at + 1}:  const answer${at} = 42;`).join('\n');
    const out = groupGrep(text.repeat(3), CONTEXT);
    assert.is(out === undefined ? text.repeat(3) : ungroupGrep(out.text), text.repeat(3));
  }
});

test('restores hits without numbers, and lines that are not hits', () => {
  const text = Array.from(
    { length: 8 },
    (_, n) => `./pkg/long/path/to/module-${n % 2}.py:import os, sys  # ${n}`,
  )
    .concat(['Binary file ./pkg/x.bin matches', '</output_head>', '12:34 odd', 'name'])
    .join('\n');
  const out = groupGrep(text, CONTEXT)!.text;
  assert.is(ungroupGrep(out), text);
});

test('writes a hit that occurs in many files once', () => {
  const text = ['de', 'fi', 'sl', 'vi', 'zh', 'ko', 'ja', 'it']
    .map((name) => `app/locale/${name}/messages.po:msgid "not found"`)
    .join('\n');
  const out = groupGrep(text, CONTEXT)!.text;
  assert.match(out, '= {de,fi,sl,vi,zh,ko,ja,it}/messages.po\n:msgid "not found"');
  assert.is(ungroupGrep(out), text);
});

test('does not treat a position in brackets as part of the file name', () => {
  const error = "error TS2345: Argument of type 'undefined' is not assignable";
  const text = [16, 36, 56, 75]
    .map((line) => `../tui/test/(app)/markdown.test.ts(${line},5): ${error}`)
    .concat(`../tui/test/chat.ts(3,49): ${error}.`, `../tui/test/a.c(12): error C2065: x`)
    .join('\n');
  const out = groupGrep(text, CONTEXT)!.text;
  assert.equal(out.split('\n').slice(1, 4), ['(app)/', 'markdown.test.ts', `(16,5): ${error}`]);
  assert.match(out, `\n./\nchat.ts(3,49): ${error}.\na.c(12): error C2065: x`);
  assert.is(ungroupGrep(out), text);
});

test('refers hits with equal text to the first of them, and restores them', () => {
  const define = '    def database_forwards(self, app_label, schema_editor, from_state):';
  const text = [93, 352, 401, 530].map((n) => `${n}:${define}`).join('\n');
  const out = referToSameHits(`${text}\n12:other\n`, CONTEXT)!.text;
  assert.equal(out.split('\n').slice(1), [
    `93:${define}`,
    '352:=93',
    '401:=93',
    '530:=93',
    '12:other',
    '',
  ]);
  assert.is(expandHits(out), `${text}\n12:other\n`);
  assert.is(referToSameHits(`${text}\n7:=93\n`, CONTEXT), undefined);
  const view = Array.from({ length: 40 }, (_, n) => `${n + 1}:${define}`).join('\n');
  assert.is(referToSameHits(view, CONTEXT), undefined, 'a view of a file is not a list of hits');
});

test('restores any hits with equal text', () => {
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
      const out = referToSameHits(text, CONTEXT)?.text ?? text;
      assert.is(expandHits(out) ?? out, text);
      assert.ok(estimateTokens(out) <= estimateTokens(text));
    }),
    { seed: 9, numRuns: 500 },
  );
});

const LISTED = [
  'Found 12 matches (showing first 9)',
  '/app/src/store/a.ts:',
  "  Line 3: import { open } from './b.ts';",
  '  Line 12:   open(path); // a: 7:3',
  '',
  '/app/src/store/b.ts:',
  '  Line 1: export function open(path: string): void {',
  '',
  '/app/src/view.ts:',
  "  Line 40:   const path = 'x';",
  '  Line 41:   show(path);',
  '  Line 52:   hide(path);',
  '',
  '/app/src/view.test.ts:',
  '  Line 7: show(path);',
  '',
  '/app/src/index.ts:',
  "  Line 2: export { open } from './store/b.ts';",
  '  Line 3: ',
  '',
  '(Results are truncated. Consider using a more specific path or pattern.)',
].join('\n');

test('groups hits listed below their files by directory, and restores them', () => {
  const out = groupGrep(LISTED, CONTEXT)!.text;
  assert.equal(out.split('\n').slice(0, 7), [
    '[svc hits under their directory/ and file, complete; "7:" was "  Line 7: "; all below /app/src/]',
    '\tFound 12 matches (showing first 9)',
    'store/',
    'a.ts',
    "3:import { open } from './b.ts';",
    '12:  open(path); // a: 7:3',
    'b.ts:1:export function open(path: string): void {',
  ]);
  assert.is(ungroupGrep(out), LISTED);
  const hints = { toolName: 'grep' };
  assert.equal(builtIn.apply(LISTED, { ...CONTEXT, hints }).by, ['grep']);
});

test('restores any list of hits, or leaves it alone', () => {
  const line = fc.constantFrom(...LISTED.split('\n'), 'Found 1 match', 'a.ts:3:x', '  Line 3:', '');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 14 }), (lines) => {
      const text = ['Found 3 matches', ...lines].join('\n');
      const out = groupGrep(text, CONTEXT)?.text ?? text;
      assert.is(ungroupGrep(out) ?? out, text);
    }),
    { seed: 11, numRuns: 500 },
  );
});

test('restores any lines at all, or leaves them alone', () => {
  survivesRoundTrip((text) => groupGrep(text, CONTEXT)?.text, ungroupGrep);
});

test.run();
