/**
 * `npm start` in a checkout: whatever ends npm ends the proxy. The checkout is a copy of the files
 * it needs, in which a build only copies the program of this build.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  constants,
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { pidFile } from '../process/daemon.ts';
import { entry, makePlace } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What the first of the two programs reads. */
const COPIED = [
  '.ci/bootstrap.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
];

/** Time limit for a start or an end on a busy machine. */
const WITHIN_MS = 300_000;

function makeCheckout({ folder }: Place): string {
  const checkout = join(folder, 'checkout');
  for (const name of ['.ci', 'node_modules/typescript/bin'])
    mkdirSync(join(checkout, name), { recursive: true });
  for (const name of COPIED) copyFileSync(join(ROOT, name), join(checkout, name));
  const lock = createHash('sha256').update(readFileSync(join(checkout, 'package-lock.json')));
  const installed = `${lock.digest('hex')} ${process.versions.modules}`;
  writeFileSync(join(checkout, 'node_modules/.svc-installed'), installed);
  const program = JSON.stringify(`import ${JSON.stringify(pathToFileURL(entry).href)};`);
  const compiler = `const { mkdirSync, writeFileSync } = require('node:fs');
for (const folder of ['.ci', 'app']) mkdirSync('dist/' + folder, { recursive: true });
writeFileSync('dist/.ci/bundle.js', '');
writeFileSync('dist/app/main.js', ${program});
`;
  writeFileSync(join(checkout, 'node_modules/typescript/bin/tsc'), compiler);
  // Files whose source no longer exists are deleted after a build.
  writeFileSync(join(checkout, '.ci/bundle.ts'), '');
  return checkout;
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const untilMs = Date.now() + WITHIN_MS;
  while (!condition()) {
    if (Date.now() > untilMs) throw new Error(`not within ${WITHIN_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Started {
  readonly place: Place;
  readonly npm: ChildProcess;
  readonly output: () => string;
  /** Returns the id of the proxy's process. */
  readonly pid: number;
  readonly url: string;
}

async function withNpmStart(
  env: Readonly<Record<string, string>>,
  use: (started: Started) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  // A process group of its own, so that it can be signalled like by a terminal.
  const npm = spawn('npm', ['start', '--', '--port', '0'], {
    cwd: makeCheckout(place),
    env: { ...place.env, npm_config_update_notifier: 'false', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let output = '';
  npm.stderr.on('data', (piece: Buffer) => (output += piece.toString()));
  let pid = 0;
  try {
    await until('it listens', () => output.includes('listens on') || npm.exitCode !== null);
    const [, url = ''] = /listens on (http:\S+)/.exec(output) ?? [];
    assert.ok(url, output);
    ({ pid } = JSON.parse(readFileSync(pidFile(place.home), 'utf8')) as { pid: number });
    await use({ place, npm, output: () => output, pid, url });
  } finally {
    if (pid !== 0 && runs(pid)) process.kill(pid, 'SIGKILL');
    npm.kill('SIGKILL');
    place.dispose();
  }
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)
  test(`${signal} to npm start ends the proxy too`, () =>
    withNpmStart({}, async ({ place, npm, output, pid }) => {
      npm.kill(signal);
      await until(`it ends with ${signal}`, () => !runs(pid));
      // It shut down in order: a killed process leaves this file.
      assert.throws(() => readFileSync(pidFile(place.home)), /ENOENT/);
      assert.not.match(output(), 'Stopping now');
    }));

test('Ctrl-C reaches npm and the proxy, and counts once', async () => {
  const upstream = await startUpstream();
  upstream.script(undefined, 'slow-drip', { bytes: 200, everyMs: 10_000 });
  try {
    const env = { MSGPROV_BASE_URL: upstream.url, MSGPROV_API_KEY: 'k' };
    await withNpmStart(env, async ({ npm, output, pid, url }) => {
      const body = { model: 'm', max_tokens: 9, stream: true };
      const sent = fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, messages: [{ role: 'user', content: 'x' }] }),
      }).then((answer) => answer.text());
      const broken = sent.catch(() => 'broken');
      await upstream.nextRequest();
      process.kill(-npm.pid!, 'SIGINT');
      await until('it drains', () => output().includes('Draining 1 request'));
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.ok(runs(pid), output());
      process.kill(-npm.pid!, 'SIGINT');
      await until('it ends', () => !runs(pid));
      assert.match(output(), 'Stopping now');
      await broken;
    });
  } finally {
    await upstream.close();
  }
});

/** Returns a checkout without packages, and an environment in which a program replaces npm. */
function withoutPackages(place: Place, npm: string) {
  const checkout = makeCheckout(place);
  rmSync(join(checkout, 'node_modules/.svc-installed'));
  const programs = join(place.folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  return { checkout, env: { ...place.env, PATH: `${programs}:${process.env['PATH']}` } };
}

/** Returns the output of `npm start` in such a checkout, run with `node`. */
function installWith(
  npm: string,
  more: Readonly<Record<string, string>> = {},
  node = process.execPath,
): string {
  const place = makePlace();
  try {
    const { checkout, env } = withoutPackages(place, npm);
    const { stderr, status } = spawnSync(node, ['.ci/bootstrap.mjs'], {
      cwd: checkout,
      env: { ...env, ...more },
      encoding: 'utf8',
    });
    return `${stderr}exit code ${status}`;
  } finally {
    place.dispose();
  }
}

test('a failed install shows the end of the npm output and one line with a remedy', () => {
  const wall = 'i=0; while [ $i -lt 200 ]; do echo "gyp ERR! line $i"; i=$((i+1)); done; ';
  const compiler = installWith(`${wall} echo "gyp ERR! find Python"; exit 1`);
  assert.match(compiler, /install python3, make and g\+\+/);
  assert.match(compiler, 'gyp ERR! line 199');
  assert.not.match(compiler, 'gyp ERR! line 100\n');
  assert.match(compiler, 'exit code 1');
  assert.not.match(installWith('echo "npm error EACCES"; exit 1'), /compiled here/);
});

test('packages that the user installed are not installed again, unless some are missing', () => {
  for (const [omit, again] of [
    ['', false],
    ['dev', true],
  ] as const) {
    const place = makePlace();
    try {
      const { checkout, env } = withoutPackages(place, 'echo "installing again"; exit 1');
      const boot = (...args: readonly string[]) =>
        spawnSync(process.execPath, ['.ci/bootstrap.mjs', ...args], {
          cwd: checkout,
          env: { ...env, npm_config_omit: omit },
          encoding: 'utf8',
        });
      assert.is(boot('--installed').status, 0);
      const { stderr } = boot();
      assert.is(stderr.includes('installing again'), again, stderr);
      assert.is(stderr.includes('Compiling'), !again, stderr);
    } finally {
      place.dispose();
    }
  }
});

/** Returns the header path passed to npm; empty if none is passed. */
const NAMED = 'echo "nodedir=$npm_config_nodedir"; exit 1';
const named = (node?: string, env?: Readonly<Record<string, string>>): string =>
  /nodedir=(.*)/.exec(installWith(NAMED, env, node))?.[1] ?? 'no line';

/** Runs `use` with a copy of this Node, next to headers that claim `version`. */
function withNode(version: string, use: (node: string, folder: string) => void): void {
  const place = makePlace();
  try {
    const folder = join(realpathSync(place.folder), 'node');
    for (const name of ['bin', 'include/node']) mkdirSync(join(folder, name), { recursive: true });
    const node = join(folder, 'bin/node');
    copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
    const text = version
      .split('.')
      .map((number, at) => `#define NODE_${['MAJOR', 'MINOR', 'PATCH'][at]}_VERSION ${number}\n`);
    writeFileSync(join(folder, 'include/node/node_version.h'), text.join(''));
    use(node, folder);
  } finally {
    place.dispose();
  }
}

test('the headers that come with Node are used where present, and a user setting is kept', () => {
  const { node: own } = process.versions;
  withNode(own, (node, folder) => {
    assert.is(named(node), folder);
    assert.is(named(node, { npm_config_nodedir: '/mine' }), '/mine');
  });
  withNode(own.replace(/\d+$/, '999'), (node, folder) => {
    assert.not.equal(named(node), folder, 'modules of another version are not kept');
  });
  assert.match(
    installWith('mkdir -p node_modules; echo noise'),
    /Installing packages[^\n]*…\nInstalling packages[^\n]*: done in \d+ s\nCompiling/,
  );
});

test('a long install prints a progress line repeatedly, and none after it has ended', async () => {
  const place = makePlace();
  const goFile = join(place.folder, 'go');
  // Its timer runs a thousand times faster.
  const hasty = `data:text/javascript,${encodeURIComponent(
    'const slow = setInterval; globalThis.setInterval = (work, ms) => slow(work, ms / 1000);',
  )}`;
  const npm = `while [ ! -e '${goFile}' ]; do sleep 0.05; done; mkdir -p node_modules`;
  const { checkout, env } = withoutPackages(place, npm);
  const child = spawn(process.execPath, ['--import', hasty, '.ci/bootstrap.mjs'], {
    cwd: checkout,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (piece: Buffer) => (output += piece.toString()));
  const closed = once(child, 'close');
  try {
    await until('it says so twice', () => /(?: {2}still working \(\d+ s\)\n){2}/.test(output));
    assert.match(output, /^Installing packages[^\n]*…\n {2}still working/);
    writeFileSync(goFile, '');
    assert.equal(await closed, [0, null], output);
    assert.match(
      output,
      /still working \(\d+ s\)\nInstalling packages[^\n]*: done in \d+ s\nCompiling/,
    );
    assert.not.match(output.slice(output.indexOf('Compiling')), 'still working');
  } finally {
    writeFileSync(goFile, '');
    child.kill('SIGKILL');
    await closed;
    place.dispose();
  }
});

test.run();
