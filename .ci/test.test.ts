/** The test runner, run on made-up test files that it must not report as passed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const RUNNER = fileURLToPath(new URL('test.js', import.meta.url));
const HEAD = `import { suite, test } from ${JSON.stringify(import.meta.resolve('uvu'))};
import * as fs from 'node:fs';
const fail = (why) => { throw new Error(why); };
`;

interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly lastLine: string;
}

/** Runs the test runner on `files`, by name, in a folder of their own. */
function run(files: Readonly<Record<string, string>>, more: readonly string[] = []): Ran {
  const folder = mkdtempSync(join(tmpdir(), 'svc-runner-'));
  try {
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, `${name}.test.js`), HEAD + text);
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [RUNNER, '--in', folder, '--left-open', '500', ...more],
      { encoding: 'utf8', cwd: folder },
    );
    const output = stdout + stderr;
    return { code: status, output, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ONE_TEST = "test('one', () => {});";

test('a file whose tests all pass is reported as passed', () => {
  const { code, lastLine, output } = run({
    a: `${ONE_TEST} test.run();`,
    b: `const s = suite('s'); s('x', () => {}); s('y', async () => {}); s.run(); ${ONE_TEST} test.run();`,
  });
  assert.is(lastLine, '4 passed, 0 failed', output);
  assert.is(code, 0);
});

/** By defect: the file's text, the reported problem, and the number of passed tests. */
const FAILING_FILES: Readonly<
  Record<string, readonly [text: string, problem: RegExp, passed: number]>
> = {
  'a failed test': [
    `${ONE_TEST} test('two', () => fail('no')); test.run();`,
    /1 of 2 tests failed/,
    1,
  ],
  'a before that throws': [
    `test.before(() => fail('set-up broke')); ${ONE_TEST} test.run();`,
    /none of 1 passed; a before/,
    0,
  ],
  'a before of a suite that rejects': [
    `const s = suite('s'); s.before(async () => fail('set-up broke')); s('x', () => {}); s.run();
     ${ONE_TEST} test.run();`,
    /1 of 2 tests failed/,
    1,
  ],
  'a before.each that throws': [
    `test.before.each(() => fail('set-up broke')); ${ONE_TEST} test.run();`,
    /none of 1 passed/,
    0,
  ],
  'an after that throws': [
    `test.after(() => fail('clearing broke')); ${ONE_TEST} test.run();`,
    /^an after threw; 1 of 1 tests passed$/,
    1,
  ],
  'an after hook that throws after a failed test': [
    `test.after(() => fail('clearing broke')); ${ONE_TEST} test('two', () => fail('no')); test.run();`,
    /^an after threw; 1 of 2 tests failed$/,
    1,
  ],
  'an after of a suite that throws': [
    `const s = suite('s'); s.after(() => fail('clearing broke')); s('x', () => {}); s.run();`,
    /^an after of a suite threw: its tests are not counted$/,
    0,
  ],
  'an after.each that throws': [
    `test.after.each(() => fail('clearing broke')); ${ONE_TEST} test.run();`,
    /none of 1 passed/,
    0,
  ],
  'a file that throws when it is loaded': [
    "fail('no such module');",
    /^threw before its tests began$/,
    0,
  ],
  'an exit with 0 in the middle': [
    `test('leaves', () => process.exit(0)); ${ONE_TEST} test.run();`,
    /ended before its tests did \(exit code 0\)/,
    0,
  ],
  'an exit with 0 before the tests': [
    `${ONE_TEST} test.run(); process.exit(0);`,
    /ended before its tests did/,
    0,
  ],
  'a promise that nobody settles': [
    `test('waits', () => new Promise(() => {})); ${ONE_TEST} test.run();`,
    /ended before its tests did \(exit code 13\)/,
    0,
  ],
  'a file that never runs its tests': [ONE_TEST, /1 tests never ran/, 0],
  'tests after the run': [`${ONE_TEST} test.run(); test('two', () => {});`, /1 tests never ran/, 1],
  'no test': ['test.run();', /has no test/, 0],
  'an empty file': ['', /has no test/, 0],
  'a skipped test': [`${ONE_TEST} test.skip('two', () => {}); test.run();`, /1 tests skipped/, 1],
  'a test that is run alone': [
    `${ONE_TEST} test.only('two', () => {}); test.run();`,
    /1 tests skipped/,
    1,
  ],
  'a rejection after the tests': [
    `test('one', () => { setTimeout(() => Promise.reject(new Error('late')), 50); }); test.run();`,
    /exit code 1/,
    1,
  ],
  'an exit code that is set at the end': [
    `process.on('exit', () => { process.exitCode = 3; }); ${ONE_TEST} test.run();`,
    /exit code 3/,
    1,
  ],
  'an end by a signal': [
    `test('dies', () => { process.kill(process.pid, 'SIGKILL'); }); test.run();`,
    /ended before its tests did \(was ended by SIGKILL\)/,
    0,
  ],
  'what is left open': [
    `setInterval(() => {}, 1000); ${ONE_TEST} test.run();`,
    /left open: Timeout/,
    1,
  ],
};

test('each of these faults fails the run and is reported with its reason', () => {
  const names = Object.keys(FAILING_FILES);
  const bad = Object.entries(FAILING_FILES).map(([name, [text]]) => [
    name.replaceAll(' ', '-'),
    text,
  ]);
  const { code, lastLine, output } = run({
    ...Object.fromEntries(bad),
    good: `${ONE_TEST} test.run();`,
  });
  assert.is(code, 1);
  const ends = new Map(
    [...output.matchAll(/^ {2}(\S+)\.test\.js: (.+)$/gm)].map(([, file, why]) => [file, why]),
  );
  let sum = 1;
  for (const name of names) {
    const [, problem, passed] = FAILING_FILES[name]!;
    const file = name.replaceAll(' ', '-');
    assert.match(ends.get(file) ?? 'green', problem, name);
    assert.ok(output.includes(`FAIL ${file}.test.js (${passed} passed, `), name);
    sum += passed;
  }
  assert.is(lastLine, `${sum} passed, ${names.length} failed`, output);
});

test('an error thrown by a hook is shown', () => {
  const { output } = run({
    bad: `test.before(() => fail('set-up broke')); ${ONE_TEST} test.run();`,
  });
  assert.match(output, /FAIL {2}before/);
  assert.match(output, /Error: set-up broke/);
});

test('the totals are counted, not parsed from the output of a test', () => {
  const { code, lastLine } = run({
    bad: `console.log('  Total:     7\\n  Passed:    7\\n'); ${ONE_TEST} test('two', () => fail('no')); test.run();`,
  });
  assert.is(lastLine, '1 passed, 1 failed');
  assert.is(code, 1);
});

test('a file that passes only on the second attempt passes, and is listed and counted', () => {
  const { code, lastLine, output } = run({
    unsteady: `test('one', () => { if (!fs.existsSync('mark')) { fs.writeFileSync('mark', ''); fail('at first'); } }); test.run();`,
    good: `${ONE_TEST} test.run();`,
  });
  assert.is(code, 0, output);
  const lines = output.trimEnd().split('\n');
  assert.equal(lines.slice(-3), [
    'passed only on the second attempt: 1',
    '  unsteady.test.js: none of 1 passed; a before that throws does that',
    '2 passed, 0 failed',
  ]);
  assert.is(lastLine, '2 passed, 0 failed');
  assert.match(output, /Error: at first|at first/);
});

test('with more than ten files, the ten slowest are listed', () => {
  const files = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`f${n}`, `${ONE_TEST} test.run();`]),
  );
  const { output } = run(files);
  const named = output.slice(output.indexOf('slowest 10 of 12 files:')).match(/^ {2}\d+\.\d s f/gm);
  assert.is(named?.length, 10, output);
});

test('in a shared process only the file that crashes or leaves a handle open fails', () => {
  const good = `import { setTimeout as pause } from 'node:timers/promises'; ${ONE_TEST} test.run();`;
  const { code, lastLine, output } = run({
    a: good,
    'b-leaves': `test('leaves', () => process['ex' + 'it'](0)); test.run();`,
    c: good,
    'd-holds': `setInterval(() => {}, 1000); ${ONE_TEST} test.run();`,
    e: `console.log('printed by e'); ${ONE_TEST} test('two', () => fail('no')); test.run();`,
    f: good,
  });
  assert.is(code, 1);
  assert.match(output, /^ {2}b-leaves\.test\.js: ended before its tests did/m);
  assert.match(output, /^ {2}d-holds\.test\.js: left open: Timeout/m);
  assert.match(output, /^── e\.test\.js: 1 of 2 tests failed\nprinted by e\n/m);
  assert.is(lastLine, '5 passed, 3 failed', output);
});

test('a crash between two files is attributed to the file that caused it', () => {
  const late = `test('one', () => { setTimeout(() => Promise.reject(new Error('late')), 50); }); test.run();`;
  const good = `${ONE_TEST} test.run();`;
  // A process gets several of these files; the late one is neither the last nor the first of its
  // process.
  const files = Object.fromEntries(
    Array.from({ length: 64 }, (_, n) => [`f${n + 10}`, n === 2 ? late : good]),
  );
  const { code, lastLine, output } = run(files);
  assert.match(output, /^ {2}f12\.test\.js: exit code 1$/m);
  assert.is(lastLine, '64 passed, 1 failed', output);
  assert.is(code, 1);
});

test('when a process fails after several files, each of them is run again alone', () => {
  const { code, lastLine, output } = run({
    a: `${ONE_TEST} test.run();`,
    b: `process['o' + 'n']('exit', () => { process['exit' + 'Code'] = 3; }); ${ONE_TEST} test.run();`,
    c: `${ONE_TEST} test.run();`,
  });
  assert.is(code, 1);
  assert.match(output, /^red: 1\n {2}b\.test\.js: exit code 3$/m);
  assert.is(lastLine, '3 passed, 1 failed', output);
});

test('a run without test files fails', () => {
  const { code } = run({ good: `${ONE_TEST} test.run();` }, ['--only', 'nothing-of-that-name']);
  assert.is(code, 1);
});

test.run();
