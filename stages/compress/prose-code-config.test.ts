import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import { estimateTokens } from '../model/tokens.ts';
import { builtIn } from './built-in.ts';
import { stripCode } from './code/strip-code.ts';
import { CODE_EXTENSIONS, grammarFor } from './code/code-tools.ts';
import type { CompressContext } from './rule.ts';
import { stripConfig } from './config/strip-config.ts';
import { extractNarrative } from './narrative/extract.ts';
import { chunkText } from './narrative/chunks.ts';
import { loadCodeTools } from './testing.ts';

const context = (query: string, mode: CompressContext['mode'] = 'hybrid'): CompressContext => ({
  mode,
  classification: { kind: 'narrative' },
  query,
  maxChars: 120,
  logBudgetTokens: 3500,
});

const TOWNS = Array.from(
  { length: 40 },
  (_, n) =>
    `The town number ${n} lies by a river and has a market of its own. Its harbour was built of granite by ${n + 3} masons over many long and rainy summers, as people there like to tell visitors.`,
);
const STORY = `${TOWNS.slice(0, 20).join(' ')}\n\nThe lighthouse keeper of Corvo was called Almeida. See \`config.yaml\` for the rest. You must never drop this sentence.\n\n${TOWNS.slice(20).join(' ')}`;

test('chunks joined are the text', () => {
  for (const text of [
    STORY,
    'One. Two!\n\n- a list\n\n```\ncode. here.\n```\nDr. A. Smith came.',
    '',
    '   \n\n x',
  ]) {
    assert.is(
      chunkText(text, 120)
        .map((chunk) => chunk.text + chunk.space)
        .join(''),
      text,
    );
  }
});

test('with a question, what is near it stays, and every kept sentence is one of the text', () => {
  const out = extractNarrative(STORY, context('Who was the keeper of the lighthouse?'))!;
  assert.match(out.text, 'The lighthouse keeper of Corvo was called Almeida.');
  assert.match(out.text, '`config.yaml`');
  assert.match(out.text, 'You must never drop this sentence.');
  const saved = 1 - estimateTokens(out.text) / estimateTokens(STORY);
  assert.ok(saved > 0.2 && saved < 0.4, String(saved));
  const known = new Set(chunkText(STORY, 120).map((chunk) => chunk.text));
  const body = out.text.slice(out.text.indexOf('\n') + 1);
  for (const part of body.split('…')) {
    for (const chunk of chunkText(part.trim(), 120)) assert.ok(known.has(chunk.text), chunk.text);
  }
});

test('without a question only copies go', () => {
  const copies = Array.from(
    { length: 20 },
    () => 'The same remark about the same weather was printed in every one of the papers that day.',
  );
  const unique = TOWNS.join(' ').replaceAll('market', 'square');
  const out = extractNarrative(`${unique}\n\n${copies.join(' ')}`, context(''))!;
  assert.is(out.text.split('The same remark').length, 2);
  for (const town of ['number 3 ', 'number 39 ']) assert.match(out.text, town);
  const numbers = Array.from(
    { length: 40 },
    (_, n) =>
      `The meter in the long corridor showed exactly ${n} units of heat at noon on that day.`,
  ).join(' ');
  assert.is(extractNarrative(numbers.repeat(1), context('')), undefined);
});

const CODE: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'py',
    '#!/usr/bin/env python\n# licence\n# text\nimport os  # kept: same line\n\n\ndef f():\n    # why\n    # more\n    s = """\n# not a comment\n"""\n    return s  # noqa\n',
    ['# licence', '# why'],
  ],
  [
    'ts',
    '/**\n * Says things.\n */\nexport const a = `// not a comment\n/* nor this */`;\n// gone\n// gone too\nexport const b = /\\/\\*/.test(a);\n// eslint-disable-next-line\nf();\n',
    ['Says things', '// gone'],
  ],
  [
    'cpp',
    '/* licence\n text */\n#include <a.h>\n// gone\nint main() { return 0; /* kept */ }\n',
    ['licence', '// gone'],
  ],
];

test('comment lines go, all other lines stay to the letter', async () => {
  const commentLines = await loadCodeTools(['py', 'ts', 'cpp']);
  for (const [extension, text, gone] of CODE) {
    const out = stripCode(text, {
      ...context('', 'aggressive'),
      classification: { kind: 'code', extension },
      commentLines,
    })!;
    const known = new Set(text.split('\n'));
    const kept = out.text.split('\n').filter((line) => !line.includes('[svc '));
    for (const line of kept) assert.ok(known.has(line), line);
    for (const comment of gone) assert.not.match(out.text, comment);
    assert.match(out.text, 'comments and blank lines only; the source is complete]');
    assert.is(commentLines(out.text, extension) === undefined, false, 'still parses');
  }
  const ts = stripCode(CODE[1]![1], {
    ...context(''),
    classification: { kind: 'code', extension: 'ts' },
    commentLines,
  })!;
  for (const kept of ['// not a comment', '/* nor this */', '// eslint-disable-next-line'])
    assert.match(ts.text, kept);
});

test('a numbered view keeps its numbers; broken code is left alone', async () => {
  const commentLines = await loadCodeTools(['py']);
  const options = {
    ...context(''),
    classification: { kind: 'code', extension: 'py' } as const,
    commentLines,
  };
  const numbered = CODE[0]![1]
    .split('\n')
    .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
    .join('\n');
  assert.match(stripCode(numbered, options)!.text, '     4\timport os');
  assert.is(stripCode('def f(:\n    # a\n    # b\n    x = "\n', options), undefined);
  assert.is(
    stripCode(CODE[0]![1], {
      ...options,
      classification: { kind: 'code', extension: 'zig' },
    }),
    undefined,
  );
  assert.is(grammarFor('zig'), undefined);
  assert.ok(CODE_EXTENSIONS.includes('rs'));
});

test('configuration loses comments and stays equal', () => {
  const yaml =
    '# top\n# more\na: 1 # kept\nscript: |\n  # content\n  run\n\n\n\n# gone\nb:\n  - x\n  # gone as well\n  - "# y"\n';
  const out = stripConfig(yaml, context(''))!.text;
  assert.match(out, '  # content');
  assert.not.match(out, '# gone');
  const read = (text: string): unknown =>
    parseAllDocuments(text).map((document) => document.toJS() as unknown);
  assert.equal(read(out), read(yaml));
  const toml = '# a\n[x]\n# b\nk = """\n# content\n"""\n# c\nv = 1\n';
  assert.is(
    stripConfig(toml, context(''))!.text.split('\n').slice(1).join('\n'),
    '[x]\nk = """\n# content\n"""\nv = 1\n',
  );
  assert.is(stripConfig('a: 1\nb: 2\n', context('')), undefined);
});

test('the gates: never larger, never empty, twice is once, blobs only in aggressive', () => {
  const blob = 'QUJDREVG'.repeat(600);
  const texts = [
    STORY,
    CODE[1]![1],
    blob,
    '{"a": [1, 2,   3]}',
    '\u001b[1ma\u001b[0m\nb\n'.repeat(200),
    '',
    ' \n ',
  ];
  for (const mode of ['strict', 'hybrid', 'aggressive'] as const) {
    for (const text of texts) {
      const options = { ...context('lighthouse', mode), hints: {} };
      const out = builtIn.apply(text, options).text;
      assert.ok(estimateTokens(out) <= estimateTokens(text));
      assert.is(out.trim() === '', text.trim() === '');
      assert.is(builtIn.apply(out, options).text, out);
      if (mode === 'strict' || (mode === 'hybrid' && text === blob)) assert.is(out, text);
    }
  }
  assert.match(
    builtIn.apply(blob, { ...context('', 'aggressive'), hints: {} }).text,
    'omitted 4800 characters of base64',
  );
});

test.run();
