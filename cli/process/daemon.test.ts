import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { isSvcError } from '../../engine/error.ts';
import { claimHome, pidFile, readInstance, removeStale, runningInstance } from './daemon.ts';
import { isRunning, signalProcess, startTimeOf } from './processes.ts';
import { makeContext, makePlace, run } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

const HOW = { flags: { port: 9000 }, background: false };

function writeFile(place: Place, changes: object): void {
  mkdirSync(place.home, { recursive: true });
  const instance = {
    pid: process.pid,
    startTime: startTimeOf(process.pid),
    nonce: 'another',
    background: true,
    startedMs: 1,
    cwd: place.folder,
    flags: {},
    url: 'http://127.0.0.1:1',
    ...changes,
  };
  writeFileSync(pidFile(place.home), JSON.stringify(instance));
}

/** Returns a process that has certainly ended, with its start time. */
async function goneProcess(): Promise<{ pid: number; startTime: string }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const pid = child.pid ?? 0;
  const startTime = startTimeOf(pid) ?? '';
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  return { pid, startTime };
}

test('a pid file is private, names this process, and is removed on release', () => {
  const place = makePlace();
  const umask = process.umask(0);
  try {
    const claim = claimHome(place.home, makeContext(place).context, HOW);
    assert.is(statSync(pidFile(place.home)).mode & 0o777, 0o600);
    claim.listening({ url: 'http://127.0.0.1:5', wsUrl: 'ws://127.0.0.1:6/ws', port: 5 });
    assert.is(statSync(pidFile(place.home)).mode & 0o777, 0o600);
    const instance = runningInstance(place.home);
    assert.is(instance?.pid, process.pid);
    assert.is(instance?.url, 'http://127.0.0.1:5');
    assert.equal(instance?.flags, { port: 9000 });
    claim.release();
    assert.equal(readdirSync(place.home), []);
  } finally {
    process.umask(umask);
  }
  place.dispose();
});

test('a second claim is refused while the first process runs', () => {
  const place = makePlace();
  const claim = claimHome(place.home, makeContext(place).context, HOW);
  try {
    claimHome(place.home, makeContext(place).context, HOW);
    assert.unreachable();
  } catch (thrown) {
    assert.ok(isSvcError(thrown) && thrown.kind === 'conflict');
    assert.match(thrown.message, new RegExp(`pid ${process.pid}`));
  }
  claim.release();
  place.dispose();
});

test('a pid file is taken over if its process has ended or the pid was reused', async () => {
  const gone = await goneProcess();
  for (const changes of [gone, { pid: process.pid, startTime: 'earlier' }, { pid: 'x' }]) {
    const place = makePlace();
    writeFile(place, changes);
    assert.is(runningInstance(place.home), undefined);
    claimHome(place.home, makeContext(place).context, HOW);
    assert.is(readInstance(place.home)?.pid, process.pid);
    assert.equal(readdirSync(place.home), ['svc.pid']);
    place.dispose();
  }
});

test('a file that svc did not write is left alone; a truncated pid file is taken over', () => {
  const place = makePlace();
  writeFile(place, {});
  writeFileSync(pidFile(place.home), 'my notes');
  const claim = () => claimHome(place.home, makeContext(place).context, HOW);
  assert.throws(claim, /in the way: svc did not write it/);
  assert.is(readFileSync(pidFile(place.home), 'utf8'), 'my notes');
  assert.equal(readdirSync(place.home), ['svc.pid']);
  for (const cut of ['', '{"pid":12']) {
    writeFileSync(pidFile(place.home), cut);
    claim().release();
  }
  place.dispose();
});

test('an unreadable folder is reported, since a proxy may run in it', () => {
  const place = makePlace();
  writeFile(place, {});
  // Root may read everything, so the process temporarily becomes another user.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  else chmodSync(place.home, 0);
  try {
    assert.throws(() => runningInstance(place.home), /cannot be read: permission denied/);
  } finally {
    if (isRoot) process.seteuid?.(0);
    else chmodSync(place.home, 0o700);
  }
  place.dispose();
});

test('releasing a lost claim leaves the new one alone', () => {
  const place = makePlace();
  const claim = claimHome(place.home, makeContext(place).context, HOW);
  writeFile(place, {});
  claim.release();
  assert.is(readInstance(place.home)?.nonce, 'another');
  claim.listening({ url: 'http://127.0.0.1:5', wsUrl: 'ws://127.0.0.1:6', port: 5 });
  assert.is(readInstance(place.home)?.nonce, 'another');
  place.dispose();
});

test('a home folder whose socket would be placed elsewhere is refused', () => {
  const place = makePlace();
  const home = `${place.folder}/${'x'.repeat(100)}`;
  const claim = () => claimHome(home, makeContext(place).context, HOW);
  assert.throws(claim, /too long for a socket/);
  assert.equal(readdirSync(place.folder), []);
  place.dispose();
});

test('a pid file that only looks stale is kept', () => {
  const place = makePlace();
  writeFile(place, {});
  const before = readFileSync(pidFile(place.home), 'utf8');
  removeStale(place.home);
  assert.is(readFileSync(pidFile(place.home), 'utf8'), before);
  place.dispose();
});

test('stop never signals a different process that has reused the pid', async () => {
  const place = makePlace();
  const otherProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const pid = otherProcess.pid ?? 0;
  writeFile(place, { pid, startTime: 'earlier' });
  const { code, stdout, stderr } = await run(place, ['stop', '--force']);
  assert.equal([code, stdout], [0, 'svc is not running\n']);
  assert.match(stderr, /Removed the pid file/);
  assert.equal(readdirSync(place.home), []);
  assert.is(otherProcess.exitCode, null);
  assert.is(otherProcess.signalCode, null);
  const target = { pid, startTime: startTimeOf(pid) ?? '' };
  assert.ok(isRunning(target));
  assert.is(signalProcess({ pid, startTime: 'earlier' }, 'SIGKILL'), false);
  assert.is(signalProcess(target, 'SIGKILL'), true);
  await new Promise((resolve) => otherProcess.once('close', resolve));
  assert.not.ok(isRunning(target));
  place.dispose();
});

test.run();
