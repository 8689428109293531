/**
 * The program in unusual environments: a home that cannot be written or created, no home at all,
 * other languages, a reader that stops reading, a limited terminal. Nothing ends with a stack
 * trace, and failures name the path concerned.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entry, makePlace } from '../../fixtures/cli/run.ts';
import { findTerminal, runInTerminal } from '../../fixtures/cli/terminal.ts';
import { exitCodes } from '../exit.ts';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ProgramEnvironment {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A program that starts it, such as one that drops privileges. */
  readonly launcher?: readonly string[];
}

/** Runs `svc` with no input until it ends. */
function svc(
  argv: readonly string[],
  { cwd, env, launcher = [] }: ProgramEnvironment,
): Promise<Ended> {
  const [program = '', ...rest] = [...launcher, process.execPath, entry, ...argv];
  const child = spawn(program, rest, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const TRACE = /^\s+at .*:\d+:\d+|internal\/|UnhandledPromise|This is a bug in svc/m;

/** Commands that write to the home folder, or would start something that does. */
const WRITING: readonly (readonly string[])[] = [
  ['serve', '--port', '0'],
  ['start', '--background', '--port', '0'],
  ['setup', '--yes', '--keep-clients'],
  ['config', 'init'],
  ['auth', '--generate'],
  ['index', '.'],
  ['macro', 'create', 'mine'],
  ['integrate', 'claude', '--apply'],
  ['run', '--', 'true'],
  ['vault-health', 'repair'],
];

/** Commands that need only existing files; with their exit codes. */
const READING: readonly (readonly [argv: readonly string[], code: number])[] = [
  [['--help'], 0],
  [['help', 'settings'], 0],
  [['version'], 0],
  [['config', 'show'], 0],
  [['config', 'validate'], 0],
  [['preview', 'notes.txt'], 0],
  [['demo'], 0],
  [['status'], exitCodes.unavailable],
  [['stop'], 0],
  [['stats'], exitCodes.not_found],
  [['search', 'x'], exitCodes.not_found],
  [['logs'], 0],
  [['uninstall'], 0],
];

const NOBODY_UID = 65_534;

/** Root without the privilege to write everywhere; it can still read its own checkout. */
const WITHOUT_WRITE_PRIVILEGE = [
  'python3',
  '-c',
  `
import ctypes, os, sys
PR_CAPBSET_DROP, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER = 24, 1, 2, 3
libc = ctypes.CDLL(None)
for right in (DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER):
    if libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0:
        sys.exit('root keeps its rights here')
os.execvp(sys.argv[1], sys.argv[1:])
`,
];

/** Provides a folder in which `svc` may change nothing. */
async function readOnly(
  use: (place: ProgramEnvironment, home: string) => Promise<void>,
): Promise<void> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'svc-read-only-'));
  const home = join(folder, 'home');
  fs.writeFileSync(join(folder, 'notes.txt'), 'some words\n');
  const isRoot = process.getuid?.() === 0;
  // An owner could make the folder writable again, so it belongs to another user, and the home
  // exists already.
  if (isRoot) {
    fs.mkdirSync(home);
    for (const path of [folder, home]) fs.chownSync(path, NOBODY_UID, NOBODY_UID);
  }
  fs.chmodSync(folder, 0o555);
  const env = { HOME: folder, SVC_HOME: home, SVC_PORT: '0', SVC_WS_PORT: '0' };
  try {
    await use({ cwd: folder, env, ...(isRoot && { launcher: WITHOUT_WRITE_PRIVILEGE }) }, home);
    assert.equal(fs.readdirSync(folder).toSorted(), isRoot ? ['home', 'notes.txt'] : ['notes.txt']);
    if (isRoot) assert.equal(fs.readdirSync(home), []);
  } finally {
    fs.chmodSync(folder, 0o755);
    fs.rmSync(folder, { recursive: true });
  }
}

test('an unwritable home: reading commands work, writing commands name the path', () =>
  readOnly(async (place, home) => {
    for (const argv of WRITING) {
      const { code, stdout, stderr } = await svc(argv, place);
      const what = `${argv.join(' ')}: ${stdout}${stderr}`;
      assert.is(code, exitCodes.config, what);
      assert.ok(stderr.includes(home), what);
      assert.match(stderr, /permission denied|belongs to another user/, what);
      if (argv[0] === 'serve' || argv[0] === 'start')
        assert.match(stderr, 'Set SVC_HOME to a folder of your own that can be written.', what);
      assert.not.match(stderr, TRACE, what);
    }
    for (const [argv, wanted] of READING) {
      const { code, stdout, stderr } = await svc(argv, place);
      assert.is(code, wanted, `${argv.join(' ')}: ${stdout}${stderr}`);
      assert.not.match(stderr, TRACE);
    }
    const { code, stdout } = await svc(['doctor', '--offline', '--json'], place);
    assert.is(code, exitCodes.config);
    assert.match(stdout, home);
  }));

test('without HOME the home folder comes from the user database', async () => {
  const place = makePlace();
  const { code, stdout, stderr } = await svc(['config', 'path'], { cwd: place.folder, env: {} });
  assert.is(code, 0, stderr);
  assert.match(stdout, /^\/.*\/config\.yaml$/m);
  const named = await svc(['config', 'init'], {
    cwd: place.folder,
    env: { SVC_HOME: join(place.folder, 'a/b/c') },
  });
  assert.is(named.code, 0, named.stderr);
  assert.is(fs.statSync(join(place.folder, 'a/b/c')).mode & 0o777, 0o700);
  place.dispose();
});

const LOCALES: readonly Readonly<Record<string, string>>[] = [
  { LC_ALL: 'C.UTF-8' },
  { LANG: 'C' },
  { LC_ALL: 'POSIX' },
  // In Turkish, I becomes a dotless lower-case letter; German has a decimal comma.
  { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
  { LANG: 'nonsense', LC_ALL: '' },
];

test('in every locale the bytes and the exit codes are the same', async () => {
  const place = makePlace();
  fs.writeFileSync(join(place.folder, 'proxy.yaml'), 'compression: { MODE: strict }\n');
  fs.writeFileSync(
    join(place.folder, 'request.json'),
    JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'İıI é' }],
    }),
  );
  const commands = [
    ['--help'],
    ['preview', 'request.json'],
    ['config', 'validate'],
    ['list-pricing'],
  ];
  for (const argv of commands) {
    const shown = await Promise.all(
      LOCALES.map((locale) => svc(argv, { cwd: place.folder, env: { ...place.env, ...locale } })),
    );
    for (const one of shown) assert.equal(one, shown[0], argv.join(' '));
    assert.is(shown[0]?.stdout === '' && shown[0].stderr === '', false);
  }
  place.dispose();
});

test('a reader that closes early and a closed output are not errors', async () => {
  const place = makePlace();
  const ends = (script: string) =>
    new Promise<Ended>((resolve) => {
      const child = spawn('bash', ['-c', script, 'bash', process.execPath, entry], {
        cwd: place.folder,
        env: place.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
      child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  for (const argv of ['config schema', 'config show', '--help', 'help settings', 'list-pricing']) {
    const { code, stdout, stderr } = await ends(`set -o pipefail; "$1" "$2" ${argv} | head -1`);
    assert.is(code, 0, `${argv}: ${stderr}`);
    assert.is(stdout.split('\n').length, 2);
    assert.is(stderr, '', argv);
  }
  for (const redirect of ['>&-', '2>&-', '<&-', '>/dev/full']) {
    const { stderr } = await ends(`"$1" "$2" config show ${redirect}; true`);
    assert.not.match(stderr, TRACE, redirect);
  }
  // Without an error, half a file would be taken for the whole.
  if (fs.existsSync('/dev/full')) {
    for (const argv of ['config schema', 'list-pricing', '--help']) {
      const { code, stderr } = await ends(`"$1" "$2" ${argv} >/dev/full`);
      assert.is(code, 1, argv);
      assert.is(stderr, 'error: Cannot write the output: no space left on the disk\n', argv);
    }
  }
  place.dispose();
});

test('a terminal with few features, or with colour turned off, gets plain text', async () => {
  const place = makePlace();
  const terminal = findTerminal();
  if (terminal === undefined) throw new Error('this needs `script` or `python3`, for a terminal');
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
    for (const argv of [['--help'], ['config', 'show'], ['status'], ['demo'], ['stauts']]) {
      const lines = await runInTerminal(terminal, 80, place, argv, env);
      assert.ok(lines.join('').trim() !== '');
      assert.not.match(lines.join('\n'), '\u001b', `${JSON.stringify(env)} ${argv.join(' ')}`);
    }
  place.dispose();
});

test.run();
