/**
 * The bundled recipes on failed runs: lines that report success may be dropped, all others stay,
 * since the last step that was started may be the only line that names the failure.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readFileSync } from 'node:fs';
import { recipeTexts } from '../../fixtures/compress/recipe-texts.ts';
import { fixturePath } from '../../fixtures/paths.ts';
import type { Mode } from '../../stages/compress/rules/rule.ts';
import { bundledRecipes } from '../bundled-recipes.ts';
import { outcomeOf } from '../../fixtures/compress/recipe-outcome.ts';

const sentOf = async (text: string, command: string, mode: Mode): Promise<string> =>
  (await outcomeOf(text, command, mode)).sent;

const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

/**
 * A command, its output, and the text that names what failed, which is in no line that states a
 * failure.
 */
const RUNS: readonly (readonly [command: string, text: string, name: string])[] = [
  [
    'pip install shop',
    `${times(30, (n) => `Collecting part${n}==1.${n}\n  Using cached part${n}-1.${n}-py3-none-any.whl (${n} kB)`)}\nCollecting numlib==1.24.3\n  Using cached numlib-1.24.3.tar.gz (10.9 MB)\n  Getting requirements to build wheel: started\nERROR: Exception:\nTraceback (most recent call last):\n  File "x.py", line 402, in _call_hook\n    raise BackendUnavailable(\npip.BackendUnavailable: Cannot import 'setuptools.build_meta'\n`,
    'Collecting numlib==1.24.3',
  ],
  [
    'npm install',
    `${times(40, (n) => `npm http fetch GET 200 http://127.0.0.1/part${n} ${n}ms`)}\nnpm http fetch GET 404 http://127.0.0.1/left-out 3ms\n${times(20, (n) => `npm http fetch GET 200 http://127.0.0.1/more${n} ${n}ms`)}\nnpm error code E404\nnpm error 404 Not Found\nnpm error A complete log of this run can be found in: /l`,
    'http://127.0.0.1/left-out',
  ],
  [
    'docker build --progress=plain .',
    readFileSync(fixturePath('compress/printed/docker-build-failed.txt'), 'utf8'),
    '#1 transferring dockerfile',
  ],
  [
    'make -j4',
    `${times(40, (n) => `[ ${n}%] Building C object lib/part${n}.o`)}\n[ 41%] Building C object lib/odd.o\n${times(20, (n) => `[ ${42 + n}%] Building C object lib/more${n}.o`)}\ncc1: out of memory\nmake[2]: *** [CMakeFiles/x] Error 1\nmake[1]: Leaving directory '/w/lib'\nmake: *** [all] Error 2\nrc\nend`,
    'lib/odd.o',
  ],
  [
    'apt-get install -y a b',
    `Reading package lists...\nBuilding dependency tree...\n${times(30, (n) => `Get:${n} http://127.0.0.1 stable/main part${n} [1 kB]`)}\n${times(20, (n) => `Preparing to unpack .../part${n}.deb ...\nUnpacking part${n} (1.0) ...`)}\nPreparing to unpack .../odd.deb ...\nUnpacking odd (2.0) ...\ndpkg: error processing archive (--unpack):\n trying to overwrite '/usr/bin/x'\nE: Sub-process /usr/bin/dpkg returned an error code (1)`,
    'Unpacking odd (2.0)',
  ],
  [
    'go test ./...',
    `${times(30, (n) => `=== RUN   TestPart${n}\n--- PASS: TestPart${n} (0.00s)`)}\n=== RUN   TestOdd\n${times(20, (n) => `waited ${n} s`)}\nFAIL\texample.com/w\t0.012s\nFAIL\nexit`,
    '=== RUN   TestOdd',
  ],
  [
    'terraform apply -auto-approve',
    `Terraform will perform the following actions:\n${times(30, (n) => `aws_part.p[${n}]: Creating...\naws_part.p[${n}]: Creation complete after ${n}s [id=${n}]`)}\naws_odd.o: Creating...\naws_odd.o: Still creating... [10s elapsed]\n╷\n│ Error: creating bucket: AccessDenied\n│ \n│   with provider\n╵\n`,
    'aws_odd.o: Creating...',
  ],
  [
    'cmake -S . -B build',
    `${times(30, (n) => `-- Looking for part${n}\n-- Looking for part${n} - found`)}\n-- Looking for odd\n-- Looking for odd - found\nCMake Error at CMakeLists.txt:9 (message):\n  stop\n-- Configuring incomplete, errors occurred!`,
    '-- Looking for odd - found',
  ],
  [
    'git push origin main',
    `Enumerating objects: 40, done.\nCounting objects: 100% (40/40), done.\nDelta compression using up to 8 threads\nCompressing objects: 100% (20/20), done.\nWriting objects: 100% (21/21), 3.10 KiB, done.\nTotal 21 (delta 3), reused 0 (delta 0)\nremote: Resolving deltas: 100% (3/3)\nTo github.invalid:a/b.git\n ! [remote rejected] main -> main (pre-receive hook declined)\nerror: failed to push some refs\n`,
    'Writing objects',
  ],
  [
    'yarn install',
    `➤ YN0000: ┌ Resolution step\n➤ YN0000: └ Completed\n${times(30, (n) => `➤ YN0013: │ part${n}@npm:1.${n} can't be found in the cache`)}\n➤ YN0013: │ odd@npm:2.0 can't be found in the cache\n➤ YN0000: └ Completed\n➤ YN0001: │ RequestError: connect\n➤ YN0000: Failed with errors in 1s`,
    'odd@npm:2.0',
  ],
  [
    'gh run view 1 --log',
    `${times(30, (n) => `2026-01-02T03:04:${10 + n}.0000000Z ${n === 1 ? '##[group]Run actions/odd@v4' : `prepared part ${n} of all`}`)}\n2026-01-02T03:05:00.0000000Z ##[error]Process completed with exit code 1.\n2026-01-02T03:05:01.0000000Z Post job cleanup.`,
    '##[group]Run actions/odd@v4',
  ],
];

for (const mode of ['hybrid', 'aggressive'] as const)
  test(`${mode}: a failed run keeps the name of the failed test`, async () => {
    for (const [command, text, name] of RUNS) {
      assert.ok(text.includes(name), `${command} lacks ${name}`);
      const sent = await sentOf(text, command, mode);
      assert.ok(sent.includes(name), `${command}: ${sent}`);
    }
  });

/**
 * Lines that report success. A run that finished names its failures in lines of their own: Maven,
 * ctest.
 */
const PASSED =
  /(?:✓|✔|√|\bok\b|\bPASS|\bPassed\b|<testcase .*\/>|Failures: 0, Errors: 0|duration_ms|^\s*(?:---|\.\.\.|type: ')|# Subtest|Running \S+$|^\s+at .*(?:node_modules\/uvu|node:internal)|^\s*$|^\[INFO\]|^ +Start +\d+: |^\[ERROR\] *(?:$|To see|Re-run|For more|\[Help|-> ))/;

test('a run with a bad exit status loses only the lines of passed tests', async () => {
  const isForHybrid = bundledRecipes().filter(({ match }) => match.mode === undefined);
  const programs = new Set(isForHybrid.flatMap(({ match }) => match.program ?? []));
  let count = 0;
  for (const { text, command } of await recipeTexts()) {
    if (command === undefined || ![...programs].some((name) => command.includes(name))) continue;
    const failed = `${text}\n[The command completed with exit code 2.]`;
    const outcome = await outcomeOf(failed, command, 'hybrid');
    count++;
    // Built-in rules rewrite lines without losing any.
    if (!outcome.by.every((name) => name.startsWith('recipe:'))) continue;
    const sent = new Set(outcome.sent.split('\n'));
    const lost = text.split('\n').filter((line) => !sent.has(line) && !PASSED.test(line));
    assert.equal(lost, [], command);
  }
  assert.ok(count > 40, `${count}`);
});

test('a list with check marks, bullets or dots is not mistaken for a test run', async () => {
  const lists = [
    [
      'git commit -m x',
      ` 9 files changed\nSyncing\n${times(20, (n) => `  ✓ Synced: ${n}-8e53.jsonl`)}\nSynced 20 logs\n[main 1a2b] x\n`,
    ],
    ['./setup', `Setup\n${times(30, (n) => `  ✔ installed part${n} to /opt/part${n}`)}\ndone\n`],
    ['./check', `Checks\n${times(30, (n) => `checking part${n} ... ok`)}\nall of them\n`],
    ['./todo', `To do\n\n${times(20, (n) => `• write part ${n}\n`)}\nend\n`],
    [
      './run',
      `running 3 tests of the line\n${times(30, (n) => `test ${n} ... the ${n}th\n      Compiling part${n}`)}\nend`,
    ],
    [
      './check',
      `Checks\n${times(90, (n) => `ok ${n} - host h${n} answers in ${(n * 37) % 19} ms with status 200 and is in region ${n % 3}`)}\nend of them\n`,
    ],
    ['./shell', `panic: none\n${times(30, (n) => `worker ${n} took ${n} ms`)}\nend`],
  ] as const;
  for (const [command, text] of lists)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const sent = await sentOf(text, command, mode);
      const lost = text.split('\n').filter((line) => !sent.includes(line.trim()));
      assert.equal(lost, [], `${command} ${mode}: ${sent}`);
    }
});

test('lists of files printed by git are sent whole', async () => {
  const stat = readFileSync(fixturePath('compress/printed/git-diff-stat.txt'), 'utf8');
  const untracked = `On branch main\nUntracked files:\n  (use "git add <file>..." to include in what will be committed)\n${times(40, (n) => `\tsrc/part-${n}/new${n}.ts`)}\n\nnothing added to commit but untracked files present (use "git add" to track)\n`;
  const created = `[main 1a2b3c4] parts\n 41 files changed, 90 insertions(+)\n${times(40, (n) => ` create mode 100644 src/part${n}.ts`)}`;
  const lists = [
    ['git diff --stat HEAD~12 HEAD', stat, /^ (\S+) +\|/],
    ['git show --stat', stat, /^ (\S+) +\|/],
    ['git status', untracked, /^\t(?:.*\/)?(\S+)$/],
    ['git commit -am parts', created, /(part\d+\.ts)$/],
    ['git diff --name-only main', times(60, (n) => `src/part-${n}/file${n}.ts`), /(file\d+\.ts)$/],
    ['grep -rl shop src', times(60, (n) => `src/part-${n}/file${n}.ts`), /(file\d+\.ts)$/],
  ] as const;
  for (const [command, text, name] of lists) {
    const names = text.split('\n').flatMap((line) => name.exec(line)?.[1] ?? []);
    assert.ok(names.length >= 13, command);
    const sent = await sentOf(text, command, 'aggressive');
    if (sent.startsWith('[svc listing, complete')) continue;
    const lost = names.filter((one) => !sent.includes(one.slice(one.lastIndexOf('/') + 1)));
    assert.equal(lost, [], `${command}: ${sent}`);
  }
});

test('table columns are never joined or moved under another heading', async () => {
  const found = times(
    24,
    (n) =>
      `${29284571 + n * 7}     ${String(8 * n).padStart(4)} -rw-r--r--    1 u                staff          ${String(746206 + n * 90001).padStart(10)} May ${(n % 28) + 1} 16:10 /home/u/work/tasks/17477723${n}/history.json`,
  );
  const sent = await sentOf(found, 'find /home/u -name "*.json" -ls', 'aggressive');
  assert.not.match(sent, /rw-r--r--\d/);
  assert.match(sent, /^-rw-r--r-- +1016209 \/home\/u\/work\/tasks\/174777233\//m);
  // Another program's rows that begin with two numbers and a mode: the numbers are what was asked for.
  const printed = times(
    24,
    (n) => `${746206 + n * 90001} ${1700000000 + n} -rw-r--r-- /home/u/work/17477723${n}.json`,
  );
  assert.is(await sentOf(printed, "find /home/u -printf '%s %Ts %M %p'", 'aggressive'), printed);
  const cells = (...all: readonly string[]): string =>
    all.map((cell, n) => cell.padEnd([15, 14, 10, 14, 14, 10, 1][n]!)).join('');
  const ps = `${cells('CONTAINER ID', 'IMAGE', 'COMMAND', 'CREATED', 'STATUS', 'PORTS', 'NAMES')}\n${times(12, (n) => cells(`1d02c6df01${n + 10}`, `shop/web:${n}`, '"sleep"', `${n} hours ago`, `Up ${n} hours`, n === 5 ? '' : '80/tcp', `shop-web-${n}`))}`;
  const table = await sentOf(ps, 'docker ps', 'aggressive');
  assert.match(table, /shop\/web:5 \| Up 5 hours \|  \| shop-web-5$/m, table);
  assert.match(table, /shop\/web:6 \| Up 6 hours \| 80\/tcp \| shop-web-6$/m, table);
});

test.run();
