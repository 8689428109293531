import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TextClass } from './classes.ts';
import { classify } from './classify.ts';
import { lineNumbering, openEnvelope } from './envelope.ts';
import type { ClassifyHints } from './hints.ts';

const CASES: readonly (readonly [TextClass, string, ClassifyHints?])[] = [
  ['json', '{\n  "name": "svc",\n  "files": ["a", "b"]\n}\n'],
  ['json', '[{"id":1},{"id":2}]'],
  ['diff', 'diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n'],
  ['grep', 'src/a.ts:1:const a = 1;\nsrc/a.ts:9:use(a);\nsrc/b.ts:4:use(a);\n'],
  ['listing', 'src/\nsrc/a.ts\nsrc/b.ts\nsrc/lib/c.ts\n', { command: 'find src' }],
  ['listing', '.:\nlib\nLICENSE\nREADME\n\n./lib:\nMakefile\ndeep\n\n./lib/deep:\nalpha\nbeta\n'],
  [
    'listing',
    'total 8\n-rw-r--r-- 1 me me 12 Jan  1 10:00 a\n-rw-r--r-- 1 me me 14 Jan  1 10:00 b\n',
  ],
  [
    'trace',
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\nKeyError: 1\n',
  ],
  ['trace', 'Error: no\n    at f (/srv/a.js:3:9)\n    at Object.<anonymous> (/srv/a.js:9:1)\n'],
  [
    'log',
    '2026-01-02 10:00:00 INFO started\n2026-01-02 10:00:01 WARN slow\n2026-01-02 10:00:02 INFO ok\n',
  ],
  [
    'log',
    '===== test session starts =====\ncollected 2 items\n\na_test.py ..   [100%]\n\n===== 2 passed in 0.1s =====\n',
  ],
  ['code', 'import os\n\n\ndef main():\n    x = os.getcwd()\n    return x\n'],
  ['code', 'export const a = 1;\nexport function f() {\n  return a;\n}\n'],
  ['config', '[package]\nname = "a"\n\n[dependencies]\nserde = { version = "1" }\n'],
  ['config', 'name: build\non:\n  push:\n    branches: [main]\njobs:\n  test:\n    runs-on: x\n'],
  [
    'narrative',
    'The harbour was quiet that morning. Nobody had expected the ship to return so early, and the crew said nothing.',
  ],
  [
    'narrative',
    '# Title\n\nSome words about the matter at hand, in full sentences.\n\n```js\nconst a = 1;\n```\n',
  ],
  ['html', '<!doctype html>\n<html><body><p>hi</p></body></html>'],
  ['blob', 'QUJD'.repeat(300)],
];

for (const [index, [kind, text, hints]] of CASES.entries()) {
  test(`recognises ${kind} (case ${index})`, () => {
    assert.is(classify(text, hints).kind, kind);
  });
}

test('sees through the envelopes of agents', () => {
  const body = 'src/a.ts:1:const a = 1;\nsrc/a.ts:9:use(a);\nsrc/b.ts:4:use(a);';
  const codex = `Chunk ID: 91ab\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n${body}`;
  const tagged = `<returncode>0</returncode>\n<output>\n${body}\n</output>`;
  assert.is(openEnvelope(codex).body, body);
  assert.is(openEnvelope(tagged).body, body);
  assert.is(classify(codex).kind, 'grep');
  assert.is(classify(tagged).kind, 'grep');
  for (const text of [codex, tagged, body, '']) {
    const { head, body: inner, tail } = openEnvelope(text);
    assert.is(head + inner + tail, text);
  }
});

test('white space is no part of a blob, wherever it stands', () => {
  const run = 'QUJD'.repeat(50);
  for (const text of [
    ' '.repeat(2000),
    `${' '.repeat(300)}x\n`.repeat(20),
    `${' '.repeat(900)}${run}`,
    `${run}${' '.repeat(3000)}${run}`,
    Array.from({ length: 12 }, () => `${' '.repeat(500)}${run}`).join('\n'),
    Array.from({ length: 12 }, () => `${run}${' '.repeat(120)}`).join('\n'),
    `${run.repeat(9)} the words between ${run.repeat(9)}`,
  ])
    assert.is.not(classify(text).kind, 'blob', JSON.stringify(text.slice(0, 40)));
  for (const blob of [`${run.repeat(9)}\r\n`, Array(12).fill(`${run}\r`).join('\n')])
    assert.is(classify(blob).kind, 'blob');
});

test('a numbered view counts up by one, anything else is not a view', () => {
  assert.equal(lineNumbering(['     7\ta', '     8\tb']), [7, 7]);
  assert.is(lineNumbering(['7: a', '19: b', '31: c']), undefined);
});

test.run();
