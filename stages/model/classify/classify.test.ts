import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TextClass } from './classes.ts';
import { classify } from './classify.ts';
import { lineNumbering, openEnvelope } from './envelope.ts';
import { times } from '../../../fixtures/compress/texts.ts';
import type { ClassifyHints } from './hints.ts';

const GIT = { command: 'git ls-files -s' };
const hash = (n: number): string => `${n}0a1b2c3d`.repeat(5).slice(0, 40);
const COMMIT = (n: number): string =>
  `commit ${hash(n)}\nAuthor: Ada <ada@example.test>\nDate:   Mon Nov 23 01:10:20 2026 +0000\n\n    Add part ${n} of the ledger.\n    It is read by the parser and kept by the store, as was said before.\n`;

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
  ['grep', 'HEAD:src/a.ts:1:const a = 1;\nHEAD:src/a.ts:9:use(a);\nHEAD:src/b.ts:4:use(a);\n'],
  ['grep', 'HEAD:src/a.ts:const a = 1;\nHEAD:src/a.ts:use(a);\nHEAD:src/b.ts:use(a);\n'],
  ['listing', times(4, (n) => `100644 blob ${hash(n)}\tsrc/a${n}.ts`).join('\n')],
  ['listing', times(4, (n) => `100644 blob ${hash(n)}    ${n}12\tsrc/a${n}.ts`).join('\n')],
  ['listing', times(4, (n) => `100644 ${hash(n)} 0\tsrc/a${n}.ts`).join('\n'), GIT],
  ['other', times(9, (n) => COMMIT(n)).join('\n')],
  ['other', times(9, (n) => `* ${COMMIT(n).replaceAll('\n', '\n| ')}`).join('\n')],
  [
    'other',
    times(9, (n) => `${hash(n).slice(0, 7)} Ada Mon Nov 23 0${n}:10:20 2026 Add part ${n}`).join(
      '\n',
    ),
    { command: 'git log --pretty=format:"%h %an %ad %s"' },
  ],
  [
    'trace',
    "a.rb:9:in `c': no ledger (RuntimeError)\n\tfrom a.rb:5:in `b'\n\tfrom a.rb:1:in `a'\n",
  ],
  [
    'trace',
    'PHP Fatal error:  Uncaught RuntimeException: no ledger in /app/a.php:9\nStack trace:\n#0 /app/a.php(5): b()\n#1 /app/a.php(12): a()\n#2 {main}\n  thrown in /app/a.php on line 9\n',
  ],
  [
    'trace',
    'no ledger at a.pl line 9.\n\tmain::b(1) called at a.pl line 5\n\tmain::a(1) called at a.pl line 12\n',
  ],
  [
    'trace',
    "lua: a.lua:3: no ledger\nstack traceback:\n\ta.lua:3: in function 'b'\n\ta.lua:7: in main chunk\n\t[C]: in ?\n",
  ],
  ['trace', '** (RuntimeError) no ledger\n    a.exs:9: A.b/1\n    (app 0.1.0) lib/a.ex:5: A.a/1\n'],
  [
    'log',
    '.F.F.\n\nFailures:\n\n  1) ledger reads\n\n5 examples, 2 failures\n\nrspec ./a_spec.rb:5 # ledger reads\n',
  ],
  [
    'log',
    'TAP version 13\n# Subtest: ledger\n    ok 1 - reads\n      ---\n      ...\n# tests 1\n# pass 1\n# fail 0\n',
  ],
  [
    'log',
    '+-+\n2 successes / 1 failure / 0 errors / 0 pending : 0.01 seconds\n\nFailure -> a.lua @ 3\nledger reads\n',
  ],
  [
    'log',
    'Checking formatting...\nAll is as it should be here.\n',
    { command: 'npx stylelint "**/*.css"' },
  ],
  ['config', 'attrs==23.1.0\ncryptography[ssh]>=41,<43\n# for tests\npytest~=7.4\n'],
  [
    'config',
    '[isort]\nskip_glob =\n    build\n    dist\n    docs\n    vendor\nline_length = 119\n',
  ],
  [
    'config',
    `name: check\non:\n  push:\nenv:\n  A: 1\njobs:\n  a:\n    steps:\n      - name: run\n        with:\n          script: |\n${times(9, (n) => `            const a${n} = f(${n});`).join('\n')}\n`,
  ],
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
    const { prefix, body: inner, suffix } = openEnvelope(text);
    assert.is(prefix + inner + suffix, text);
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
