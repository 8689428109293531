import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtIn } from '../built-in.ts';
import { scoreLine } from './score.ts';
import { makeLog } from '../../../../fixtures/compress/texts.ts';

/** Failure messages of tools, in their own layouts. */
const FAILURES: Readonly<Record<string, readonly string[]>> = {
  github: [
    '##[group]Run make',
    'release "api" did not become ready',
    '##[error]The job was cancelled.',
  ],
  gitlab: ['make: *** [Makefile:12: all] Error 2', 'ERROR: Job failed: exit code 1'],
  jenkins: ['script.sh: line 4: kubectl: command not found', 'Finished: FAILURE'],
  tap: ['not ok 301 - merges two lists', '  expected: [1,2,3]', '  actual:   [1,3]', '# fail  1'],
  junit: ['Tests run: 3, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! - in a.FooTest'],
  msbuild: ["a.cpp(12,5): error C2065: 'foo': undeclared identifier", 'Build FAILED.'],
  xcode: ["Main.swift:12:9: error: cannot find 'foo' in scope", '** BUILD FAILED **'],
  gradle: [
    '> Task :app:compileKotlin FAILED',
    'e: file:///w/Main.kt:12:9 Unresolved reference: foo',
  ],
  maven: ['[ERROR]   FooTest.adds:33 expected:<3> but was:<4>', '[INFO] BUILD FAILURE'],
  webpack: [
    'ERROR in ./src/index.js 3:0-28',
    "Module not found: Can't resolve './missing' in '/w'",
  ],
  rust: ['error[E0308]: mismatched types', '  --> src/main.rs:10:5', '   |     ^^^ expected `i32`'],
  go: [
    'panic: runtime error: index out of range',
    'goroutine 1 [running]:',
    '\t/w/server.go:42 +0x1d',
  ],
  pytest: ['E       assert 3 == 4', 'FAILED tests/test_total.py::test_total - assert 3 == 4'],
  statement: [
    '>       total = order.total(lines)',
    '                ^^^^^^^^^^^^^^^^^^',
    '> 41 |   expect(total(lines)).toBe(7);',
  ],
  npm: ['npm ERR! code ERESOLVE', 'npm ERR! Found: react@18.2.0'],
  apt: [
    'E: Unable to locate package libfoo-dev',
    'dpkg: error processing package foo (--configure):',
  ],
  step: ['Installing left-tools failed with status 3', 'Checking for zlib... not found'],
  kernel: ['Out of memory: Killed process 4242 (java)', 'blk_update_request: I/O error, dev sda'],
  crash: ['line 1: 4242 Segmentation fault      (core dumped) ./run_tests', 'Bus error'],
  signal: ['Command "make all" terminated by signal 9', 'Container api exited with code 137'],
  cmake: [
    'CMake Error at CMakeLists.txt:12 (find_package):',
    'Configuring incomplete, errors occurred!',
  ],
  bazel: ['ERROR: /w/pkg/BUILD:12:8: Compiling pkg/a.cc failed: (Exit 1)'],
  disk: ['write /var/lib/tmp/x: no space left on device'],
  records: [
    '{"level":"fatal","msg":"shutting down"}',
    '{"level":50,"time":17,"msg":"queue overflow"}',
  ],
  pairs: [
    'time=12 level=error msg="lost quorum"',
    'May  1 10:00:59 host app[1]: CRITICAL: raft down',
  ],
  klog: ['E0501 10:00:59.123456    1234 controller.go:99] pod ns/pod-9 lease gone'],
  stack: [
    'IllegalStateException: partition 17 lost',
    '\tat com.acme.Job.run(Job.java:17)',
    'Caused by: java.io.IOException: disk quota',
    '\tat com.acme.Disk.write(Disk.java:9)',
  ],
  german: ['Fehler: Verbindung zum Server fehlgeschlagen', 'FEHLER Datei nicht gefunden: app.conf'],
  french: ["Erreur : impossible d'ouvrir le fichier", 'Échec de la connexion'],
  iberian: ['Error: no se pudo abrir el archivo', 'Erro: falha ao abrir o arquivo'],
  polish: ['Błąd: nie można otworzyć pliku'],
  russian: ['Ошибка: не удалось открыть файл'],
  eastern: [
    '错误：无法打开配置文件',
    'エラー: ファイルが見つかりません',
    '오류: 파일을 찾을 수 없습니다',
  ],
};

const WORDS = ['river', 'cache', 'token', 'shard', 'lease', 'probe', 'queue', 'frame', 'merge'];

/** Returns lines as builds print them: many similar, many with a warning, many that occur once. */
function noise(): string[] {
  let seed = 7;
  const next = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  const word = (): string => `${WORDS[next(9)]}${WORDS[next(9)]}`;
  return Array.from({ length: 900 }, (_, n) => {
    const kind = next(10);
    if (kind < 5) return `   Compiling crate-${n} v0.${n}.1`;
    if (kind < 8) return `warning: ${word()} in ${word()}.c is unused near ${word()}`;
    return `${word()} ${word()} started with ${word()} and ${word()}`;
  });
}

for (const budget of [3500, 2000]) {
  test(`keeps failures wherever they are in the log, with a budget of ${budget} tokens`, () => {
    for (const [name, texts] of Object.entries(FAILURES)) {
      for (const share of [0.25, 0.6, 0.98]) {
        const lines = noise();
        lines.splice(Math.floor(lines.length * share), 0, ...texts);
        const { text } = builtIn.apply(lines.join('\n'), makeLog(budget));
        const kept = new Set(text.split('\n'));
        assert.ok(kept.size < 500, name);
        for (const line of texts) assert.ok(kept.has(line), `${name} at ${share}: ${line}`);
      }
    }
  });
}

test('removes a caret line if the line that it points at is removed', () => {
  const calls = Array.from({ length: 400 }, (_, n) => [
    `src/backends.py:${n + 500}: in run_${WORDS[n % 9]}`,
    '    return self.call(*args, **kwargs)',
    '           ^^^^^^^^^^^^^^^^^^^^^^^^^^',
  ]).flat();
  const lines = [...noise().slice(0, 300), ...calls, 'E       KeyError: 7', '1 failed in 2s'];
  const out = builtIn.apply(lines.join('\n'), makeLog(2000)).text.split('\n');
  const alone = out.filter((line, at) => /^ +\^+$/.test(line) && !/\bself\b/.test(out[at - 1]!));
  assert.equal(alone, []);
  assert.ok(out.includes('E       KeyError: 7'));
});

/** A line that states a failure has at least this score. */
const STATED = 7;

test('recognises a failure beside a harmless phrase, and no failure in the phrase alone', () => {
  for (const line of [
    'Tests run: 3, Failures: 1, Errors: 0',
    '0 errors in lint, 2 tests failed',
    'fail-fast: false; exit code 1',
    'Installing tools: error: no space left on device',
  ])
    assert.ok(scoreLine(line) >= STATED, line);
  for (const line of [
    'Tests run: 3, Failures: 0, Errors: 0',
    'no problems, no conflicts',
    'Installing error-tools 1.2',
    'ok 12 - throws when not found',
    'progress 50 of 60',
  ])
    assert.ok(scoreLine(line) <= 0, line);
});

test.run();
