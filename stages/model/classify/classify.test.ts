import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TextClass } from './classes.ts';
import { classify } from './classify.ts';
import { lineNumbering, openEnvelope } from './envelope.ts';
import { gitHash, times } from '../../../fixtures/compress/texts.ts';
import type { ClassifyHints } from './hints.ts';

const GIT = { command: 'git ls-files -s' };
const COMMIT = (n: number): string =>
  `commit ${gitHash(n)}\nAuthor: Ada <ada@example.test>\nDate:   Mon Nov 23 01:10:20 2026 +0000\n\n    Add part ${n} of the ledger.\n    It is read by the parser and kept by the store, as was said before.\n`;

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
  ['listing', times(4, (n) => `100644 blob ${gitHash(n)}\tsrc/a${n}.ts`).join('\n')],
  ['listing', times(4, (n) => `100644 blob ${gitHash(n)}    ${n}12\tsrc/a${n}.ts`).join('\n')],
  ['listing', times(4, (n) => `100644 ${gitHash(n)} 0\tsrc/a${n}.ts`).join('\n'), GIT],
  ['other', times(9, (n) => COMMIT(n)).join('\n')],
  ['other', times(9, (n) => `* ${COMMIT(n).replaceAll('\n', '\n| ')}`).join('\n')],
  [
    'other',
    times(9, (n) => `${gitHash(n).slice(0, 7)} Ada Mon Nov 23 0${n}:10:20 2026 Add part ${n}`).join(
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
  // Settings with no hint of where they come from.
  ['config', 'ACTION=="add", SUBSYSTEM=="net", NAME="lan0"\nKERNEL=="sd*", MODE="0660"\n# end\n'],
  [
    'config',
    'SHELL=/bin/sh\n# jobs\n17 * * * * root run-parts /etc/hourly\n*/5 * * * * app /opt/tick\n@reboot app /opt/start\n',
  ],
  [
    'config',
    'auth sufficient pam_rootok.so\naccount [default=ignore] pam_nologin.so\n@include common\n',
  ],
  ['config', '# deps\nnode_modules/\n/dist\n*.log\n!keep.log\n'],
  ['config', '/var/log/app/*.log {\n    daily\n    rotate 14\n    compress\n    missingok\n}\n'],
  ['config', 'PORT=3000\n# where\nexport HOST=a.test\nexport LEVEL=debug\nNAME="x"\n'],
  ['config', '# RATE=5\n# The host.\n# HOST="a.test"\n# PORT=80\n# LEVEL=info\n'],
  ['config', 'module a.test/b\n\ngo 1.21\n\nrequire (\n\ta.test/c v1.2.3\n)\n'],
  [
    'config',
    'http {\n    include types;\n    server {\n        listen 443 ssl;\n        root /srv/a;\n        location / {\n            pass on;\n        }\n    }\n}\n',
  ],
  [
    'config',
    '{\n  // base\n  "extends": "./a.json",\n  "options": {\n    "strict": true, /* yes */\n  },\n}\n',
  ],
  [
    'config',
    '[testenv]\ndeps =\n    {[base]deps} x\ncommands =\n    run {posargs} all of it\nname = a\n',
  ],
  [
    'code',
    '.PHONY: all\nSRC = $(wildcard *.c)\nall: app\napp: $(SRC)\n\tcc -o $@ $^\nclean:\n\trm -f app\n',
  ],
  [
    'code',
    'project(a)\nset(X 17)\nfind_package(Boost REQUIRED)\nadd_executable(a a.cpp)\nif(WIN32)\nendif()\n',
  ],
  ['code', '#!/bin/sh\n# starts it\nset -e\nexec run --all\n', { path: '/etc/grid/start' }],
  ['config', '[web]\nweb1 host=10.0.0.1\nweb2\n', { path: '/etc/ansible/hosts' }],
  ['config', 'evdev:input:b0003*\n KEY_1=a\n', { path: 'hwdb.d/60-keys.hwdb' }],
  ['code', '.a {\n  color: red;\n  margin: 0;\n}\n.b {\n  color: blue;\n}\n'],
  // Output of tools, and stack traces of languages with formats of their own.
  ['log', ' 34 modules\n\n  5 passed (9.1s)\n  1 failed (2.0s)\n'],
  [
    'log',
    'Updating 1a2b3c4..5d6e7f8\nFast-forward\n src/a.ts | 12 ++++++------\n 1 file changed, 6 insertions(+)\n',
  ],
  [
    'log',
    '[main 1a2b3c4] add the ledger\n 3 files changed, 41 insertions(+)\n create mode 100644 a.ts\n',
  ],
  [
    'log',
    '*   Trying 10.0.0.1:443...\n* Connected to a.test\n> GET / HTTP/1.1\n> Host: a.test\n>\n< HTTP/1.1 200\n',
  ],
  ['log', 'I 2025-03-04 10:00:00,123 41 opened pool\nW 2025-03-04 10:00:01,123 41 slow query\n'],
  [
    'log',
    'Packages: +211\n+++++\nProgress: resolved 211, reused 209\n\ndependencies:\n+ zod 3.22.4\n\nDone in 3s\n',
  ],
  [
    'trace',
    '==12==ERROR: AddressSanitizer: heap-use-after-free\n    #0 0x55d1 in f /app/a.c:4:10\n    #1 0x55e2 in main /app/a.c:9:3\n',
  ],
  [
    'trace',
    'ERROR: KeyError: key "x" not found\nStacktrace:\n [1] getindex(h::Dict, key::String)\n   @ Base ./dict.jl:484\n [2] top-level scope\n   @ ~/a.jl:7\n',
  ],
  [
    'trace',
    'a: empty list\nCallStack (from HasCallStack):\n  error, called at List.hs:1646:3 in base:GHC.List\n  head, called at a.hs:3:8 in main:Main\n',
  ],
];

for (const [index, [kind, text, hints]] of CASES.entries()) {
  test(`recognises ${kind} (case ${index})`, () => {
    assert.is(classify(text, hints).kind, kind);
  });
}

test('classifies the output inside the envelope of an agent', () => {
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

test('does not count white space as part of a blob, wherever it is', () => {
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

test('takes lines for a numbered view only if the numbers count up by one', () => {
  assert.equal(lineNumbering(['     7\ta', '     8\tb']), [7, 7]);
  assert.is(lineNumbering(['7: a', '19: b', '31: c']), undefined);
});

const stamp = (n: number): string => `09:5${n}:1${n}`;
/** Line formats of logs, by program; nothing but the lines reveals the format. */
const LOG_LINES: Readonly<Record<string, (n: number) => string>> = {
  'syslog, RFC 5424': (n) =>
    `<34>1 2026-03-07T${stamp(n)}.123456Z web-1 app ${n} ID4${n} - reading part ${n}`,
  dmesg: (n) => `[   12.00${n}123] usb 1-1: device ${n} found`,
  'Apache errors': (n) =>
    `[Sat Mar 07 ${stamp(n)}.123456 2026] [core:notice] [pid 4${n}:tid 8${n}] part ${n} is read`,
  'access log': (n) =>
    `10.0.0.${n} - - [07/Mar/2026:${stamp(n)} +0000] "GET /part/${n} HTTP/1.1" 200 51${n}`,
  'access log of hosts': (n) =>
    `www.example.test:443 10.0.0.${n} - - [07/Mar/2026:${stamp(n)} +0000] "GET / HTTP/1.1" 200 5`,
  log4j: (n) => `07 Mar 2026 ${stamp(n)},123 [INFO] com.acme.Parts: part ${n} read`,
  cassandra: (n) => `INFO  [main] 2026-03-07 ${stamp(n)},123 Parts.java:${n} - part ${n} read`,
  openstack: (n) =>
    `nova-api.log.1.2026-03-07_${stamp(n)} 2026-03-07 ${stamp(n)}.123 257${n} INFO nova.api part ${n}`,
  logfmt: (n) => `time="2026-03-07T${stamp(n)}Z" level=info msg="part ${n} read" part=${n}`,
  'Go, slog': (n) => `time=2026-03-07T${stamp(n)}.000Z level=INFO msg="part read" part=${n}`,
  redis: (n) => `274${n}:M 07 Mar 2026 ${stamp(n)}.123 * part ${n} read`,
  chrome: (n) => `[12${n}:45${n}:0307/09580${n}.123456:INFO:parts.cc(1${n})] part ${n} read`,
  audit: (n) => `type=SYSCALL msg=audit(1772877481.${n}23:4${n}): arch=c000003e syscall=${n}`,
  'Python, plain': (n) => `INFO:app.parts:part ${n} read`,
  '.NET': (n) => `info: Acme.Parts[${n}]\n      part ${n} read`,
  'Docker Compose': (n) => `web-1  | part ${n} is read now`,
  gradle: (n) => `> Task :part${n}:compileJava`,
  'docker pull': (n) => `0a1b2c3d4e5${n}: Pull complete`,
  composer: (n) => `  - Installing acme/part${n} (v1.${n}.0): Extracting archive`,
  terraform: (n) => `acme_part.a[${n}]: Creation complete after ${n}s [id=p-${n}]`,
  configure: (n) => `checking for part${n}.h... yes`,
  'linter, place first': (n) => `src/part_${n}.py:${n}:1: F401 'os' imported but unused`,
  'compiler with source': (n) =>
    `part_${n}.c:3:7: warning: unused variable 'a${n}' [-Wunused-variable]\n    3 |   int a${n};\n      |       ^~`,
  make: (n) => `gcc -Wall -O2 -c src/part_${n}.c -o build/part_${n}.o`,
};

for (const [name, line] of Object.entries(LOG_LINES)) {
  test(`recognises a log by its lines: ${name}`, () => {
    assert.is(classify(times(9, line).join('\n')).kind, 'log');
    assert.is(classify(times(9, line).join('\n'), { command: 'docker logs app' }).kind, 'log');
  });
}

test('recognises a log by its path or command, whatever its lines', () => {
  const text = times(40, (n) => `part ${n} is read now and then kept`).join('\n');
  assert.is(classify(text, { path: '/var/log/app.log' }).kind, 'log');
  assert.is(classify(text, { command: 'journalctl -u app' }).kind, 'log');
  assert.is.not(classify(text).kind, 'log');
});

test('does not take hits, rows, commits and settings with timestamps for a log', () => {
  const at = (n: number): string => `2026-03-07T${stamp(n)}Z`;
  const texts: readonly (readonly [TextClass, (n: number) => string, ClassifyHints?])[] = [
    ['grep', (n) => `logs/app.txt:${n}2:at ${at(n)} part ${n} was read`],
    ['grep', (n) => `logs/app.txt:${n}2:${at(n)} part ${n}`, { command: 'grep -rn part logs' }],
    ['other', (n) => `#${n}  part ${n}  open  ${at(n)}  ada`],
    ['other', (n) => `part-${n} 2026-03-07 ${stamp(n)} ${n}7 rows`, { command: 'psql -c x' }],
    ['other', (n) => `${gitHash(n).slice(0, 8)} (Ada 2026-03-07 ${stamp(n)} +0000 ${n}) part ${n}`],
    ['config', (n) => `part${n} = ${at(n)}`],
  ];
  for (const [kind, line, hints] of texts)
    assert.is(classify(times(9, line).join('\n'), hints).kind, kind, line(3));
});

test('recognises settings by the names and folders of their files', () => {
  const text = times(9, (n) => `Part${n} value ${n}`).join('\n');
  for (const path of [
    '/etc/ssh/sshd_config',
    '/home/ada/.ssh/config',
    '/etc/nginx/sites-enabled/default',
    '/etc/logrotate.d/app',
    'app/.env.local',
    'app/config.toml.example',
    'php.ini-development',
    'app/net.socket',
    '.coveragerc',
    'go.mod',
  ])
    assert.is(classify(text, { path }).kind, 'config', path);
  assert.is.not(classify(text, { path: 'notes/part' }).kind, 'config');
});

test('recognises settings in blocks, and settings among many comments', () => {
  const blocks = times(
    6,
    (n) => `server.part${n} {\n\tlisten 80${n}\n\troot "/srv/part${n}"\n}`,
  ).join('\n');
  assert.is(classify(blocks).kind, 'config');
  const comments = times(30, (n) => `# What part ${n} is for, in words that say it all.`).join(
    '\n',
  );
  assert.is(classify(`${comments}\nhttp.part=1\nhttp.other=2\n`).kind, 'config');
});

test('classifies a test run with stack traces as a log', () => {
  const frames = times(9, (n) => `   ${n}: part::read${n}\n             at ./src/part.rs:${n}:5`);
  const text = `running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nthread 'b' panicked at src/part.rs:9:5\n${frames.join('\n')}\n\ntest result: FAILED. 1 passed; 1 failed`;
  assert.is(classify(text).kind, 'log');
  assert.is(classify(text, { command: 'cargo test' }).kind, 'log');
});

test.run();
