/** Output of programs without a pattern of their own, and texts that only resemble it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { times } from '../../../fixtures/compress/texts.ts';
import { classify } from './classify.ts';
import { printedBy } from './command.ts';
import type { ClassifyHints } from './hints.ts';

const SCRIPT = { command: 'cd /srv && ./tools/sync.sh --all 2>&1 | tail -40' };

const RUNS: Readonly<Record<string, readonly [string, ClassifyHints?]>> = {
  'a tag before each message': [
    times(9, (n) => `[ledger] ${n % 3 ? 'reading' : 'retried'} part ${n}, ${n * 7} ms`).join('\n'),
  ],
  'progress of a bundler in brackets': [
    times(12, (n) => `<s> [part.Progress] ${n * 8}% building ${n} of 12 modules`).join('\n'),
  ],
  'sizes of a garbage collector': [
    times(
      9,
      (n) => `[19:0x${n}b8]   74${n} ms: Sweep ${n}.8 (4.0) -> ${n}.4 (5.0) MB, 36.0 ms`,
    ).join('\n'),
  ],
  'a traced shell': [
    'Executing(build): /bin/sh -e /tmp/a.1\n+ umask 022\n+ cd /srv/ledger\n+ make -j4 all\nmade 14 parts\n+ exit 0\nProcessing files: a-1.x86\nWrote: /srv/out/a-1.x86.pkg\n',
    SCRIPT,
  ],
  'what a script says on its way': [
    'Migrating the default store...\nMigrating the other store...\nInstalled 2 parts from 1 file\nSUCCESS: all data is there.\n',
    { command: 'python3 move.py' },
  ],
  'a tool that only complains': [
    'ledger: cannot open parts.db: No such file or directory\nledger: giving up after 3 attempts\nusage: ledger FILE\n',
    { command: 'mkdir -p out; ledger parts.db' },
  ],
  'checks of an unknown linter': [
    times(6, (n) => `parts/a${n}.lx:${n}: L10${n} unused name 'b${n}'`).join('\n') +
      '\n6 findings in 4 files\n',
    { command: 'lxlint parts' },
  ],
  'a package that is unpacked': [
    times(
      4,
      (n) => `Preparing to unpack .../part${n}_1.${n}_all.pkg ...\nUnpacking part${n} ...`,
    ).join('\n'),
    { command: 'dpkg -i --dry-run part*.deb' },
  ],
};

for (const [name, [text, hints]] of Object.entries(RUNS)) {
  test(`classifies ${name} as a log`, () => {
    assert.is(classify(text, hints).kind, 'log');
  });
}

const NO_RUNS: Readonly<Record<string, readonly [string, ClassifyHints]>> = {
  'rows of a report': [
    times(60, (n) => `Person ${n}: shop ${n % 4}, ${n * 91} parts`).join('\n'),
    { command: 'python3 report.py' },
  ],
  'pairs of values': [
    times(60, (n) => `part${n} ${n * 7} ${n * 3}.5`).join('\n'),
    { command: './values' },
  ],
  sentences: [
    times(
      20,
      (n) => `The part that was sold in ${1900 + n} is the one of which we have read. It stays.`,
    ).join('\n'),
    { command: 'pdf-to-text letters.pdf -' },
  ],
  'a module': [
    times(20, (n) => `def step_${n}(a):\n    b = a.take(${n})\n    return b + ${n}\n`).join('\n'),
    { command: './show step' },
  ],
  settings: [
    times(20, (n) => `part${n}:\n  port: 80${n}\n  host: a${n}.test`).join('\n'),
    { command: 'render-config --all' },
  ],
  'a document that quotes a run': [
    `## Checks\n\n${times(9, (n) => `- run part ${n}`).join('\n')}\n\n    parts: 9 passed, 1 failed in 3 s\n    error: part 4 failed\n    warning: part 5 skipped\n`,
    {},
  ],
};

for (const [name, [text, hints]] of Object.entries(NO_RUNS)) {
  test(`classifies ${name} neither as a log nor as a trace`, () => {
    assert.not(['log', 'trace'].includes(classify(text, hints).kind));
  });
}

test('does not classify a file as a log, whatever it says', () => {
  const text = times(30, (n) => `reading part ${n} of the store failed, ${n * 7} ms`).join('\n');
  assert.is(classify(text, { command: './check' }).kind, 'log');
  assert.is.not(classify(text, { path: 'notes/messages.lst' }).kind, 'log');
  assert.is.not(classify(text, { command: 'cat messages.lst' }).kind, 'log');
});

const RAN = [
  './run.sh',
  'python x.py | tail -20',
  'A=b node x.js 2>&1',
  'bash -c "./x"',
  'ls docker; pytest',
  'git stash pop',
  'composer validate; composer show',
  'kubectl apply -f a.yml',
  'rm a.txt',
];
const NOT_RAN = [
  'kubectl get pods',
  'gh pr view 3',
  'export -p',
  'curl -s a.test',
  'npm run list-x',
];

test('treats commands with unknown output as programs that were run', () => {
  for (const command of RAN) assert.is(printedBy(command).ran, true, command);
  for (const command of NOT_RAN) assert.is(printedBy(command).ran, undefined, command);
});

test('treats grep -v of one file as a view of that file', () => {
  assert.equal(printedBy('grep -v "^#" /etc/a.conf | grep -v "^$"').files, ['/etc/a.conf']);
  for (const command of ['grep -v x a b', 'grep -rv x src', 'grep -vn x a', 'grep -v x *.py'])
    assert.is(printedBy(command).kind, 'grep', command);
});

const TRACES: readonly string[] = [
  'Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007fbc (most recent call first):\n  File "a.py", line 5 in f\n  File "a.py", line 9 in <module>\n',
  'WARNING: DATA RACE\nRead at 0x00c0 by goroutine 7:\n  main.main.func1()\n      /srv/a/main.go:7 +0x30\n\nPrevious write at 0x00c0 by main goroutine:\n  main.main()\n      /srv/a/main.go:8 +0xca\n',
  'WARNING: ThreadSanitizer: data race (pid=79)\n  Read of size 4 by thread T2:\n    #0 w() /srv/th.cpp:3 (th+0x1255)\n    #1 f(void (*&&)()) /srv/invoke.h:61 (th+0x1e36)\n',
  '╭──── Traceback (most recent call last) ────╮\n│ /srv/a.py:5 in <module>                   │\n│                                           │\n│   4 def b(n): return a(n)                 │\n│ ❱ 5 b(1)                                  │\n╰───────────────────────────────────────────╯\nZeroDivisionError: division by zero\n',
];

for (const [index, text] of TRACES.entries()) {
  test(`recognises less common traces (case ${index})`, () => {
    assert.is(classify(text).kind, 'trace');
    assert.is(classify(text, { command: './a' }).kind, 'trace');
  });
}

const SETTINGS = 'repos:\n  - repo: a.test/lint\n    rev: 2.0.0\n    hooks:\n      - id: lint\n';
const numbered = (text: string, mark: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line, at) => `${at + 1}${mark}${line}`)
    .join('\n');

test('ignores line numbers when it classifies a file', () => {
  const json = `{\n  "extends": "./a.json",\n  "options": { "strict": true }\n}`;
  for (const mark of [':', ': ', '→', '\t']) {
    assert.is(classify(numbered(SETTINGS, mark)).kind, 'config', mark);
    assert.is(classify(numbered(json, mark)).kind, 'config', mark);
  }
  const hits = times(9, (n) => `${n + 20}:  read(${n});`).join('\n');
  assert.is(classify(hits, { command: 'grep -n read a.c' }).kind, 'grep');
  const pids = times(9, (n) => `274${n}:M 07 Mar 2026 10:00:0${n}.123 * part ${n} read`).join('\n');
  assert.is(classify(pids).kind, 'log');
});

test('does not take a short text of unknown origin for a log because of one or two words', () => {
  for (const text of [
    'Starting in 1965, the harbour was built by people of the town, and in the same year it was opened. It took 40% of all ships that came to the coast, and failed in the end.',
    'export declare type Callback<T> = ((err: null, value: T) => void) | ((err: Error) => void);\n',
    times(9, (n) => `export { Missing${n}Error } from './missing-${n}-error';`).join('\n'),
  ])
    assert.is.not(classify(text).kind, 'log', text);
});

test('recognises a test run of very many lines by its last lines', () => {
  const lines = times(25_000, (n) => `part ${n} of the harbour`).join('\n');
  assert.is.not(classify(lines).kind, 'log');
  assert.is(classify(`${lines}\n=== 3 failed, 90 passed in 4.1s ===\n`).kind, 'log');
});

test('recognises a log by CI markers, even with a stack trace between them', () => {
  const trace =
    'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in <module>\n    run()\n  File "/srv/b.py", line 9, in run\n    load(part)\nValueError: part 3';
  assert.is(classify(trace).kind, 'trace');
  const step = (name: string): string => `##[group]${name}\n##[endgroup]\n##[error]part 3 is gone`;
  assert.is(classify(`${step('Run the parts')}\n${trace}\n${step('Tidy')}`).kind, 'log');
});

test('counts indented lines as part of the timestamped message above them', () => {
  const below = '\n    the ship of the town\n    and of the harbour\n    by the sea';
  const text = times(6, (n) => `2026-03-07 10:00:0${n} WARN the harbour said${below}`).join('\n');
  assert.is(classify(text).kind, 'log');
  assert.is.not(classify(text.replaceAll('WARN ', '')).kind, 'log');
});

test.run();
