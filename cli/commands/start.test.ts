import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { outputFile, pidFile, runningInstance } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { signalProcess } from '../process/processes.ts';
import { rememberRewritten } from '../../fixtures/cli/remembered-conversations.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';

interface Started {
  readonly pid: number;
  readonly url: string;
}

const START = ['start', '--background', '--port', '0'];

test('a proxy in the background: start, status, logs, switches, restart, stop', async () => {
  const place = makePlace();
  const started = await run(place, [...START, '--json', '--debug']);
  assert.is(started.code, 0, started.stderr);
  const { pid, url } = JSON.parse(started.stdout) as Started;
  assert.is(statSync(outputFile(place.home)).mode & 0o777, 0o600);
  assert.is(readFileSync(outputFile(place.home), 'utf8'), '');

  const status = await run(place, ['status']);
  assert.is(status.code, 0);
  assert.match(status.stdout, new RegExp(`is running on ${url} \\(pid ${pid}, background\\)`));
  assert.match(status.stdout, /Health +ok/);
  assert.match((await run(place, ['version'])).stdout, /proxy +9\.8\.7|proxy +\d/);

  const again = await run(place, START);
  assert.is(again.code, exitCodes.conflict);
  assert.match(again.stderr, new RegExp(`pid ${pid}`));

  assert.match((await run(place, ['debug', 'status'])).stdout, /is on/);
  assert.match((await run(place, ['debug', 'off'])).stdout, /is off/);
  await run(place, ['pause']);
  assert.match((await run(place, ['status'])).stdout, /Rewriting +paused/);
  await run(place, ['resume']);
  assert.match((await run(place, ['status'])).stdout, /Rewriting +as configured/);

  assert.match((await run(place, ['logs', '-n', '5'])).stdout, /INFO +listening host=127\.0\.0\.1/);
  for (const line of (await run(place, ['logs', '--json'])).stdout.trim().split('\n'))
    assert.is(typeof JSON.parse(line), 'object');

  const restarted = await run(place, ['restart', '--json']);
  assert.is(restarted.code, 0, restarted.stderr);
  const next = JSON.parse(restarted.stdout) as Started;
  assert.is.not(next.pid, pid);
  assert.equal(runningInstance(place.home)?.flags, { port: 0, debug: true });

  await rememberRewritten(place.home, 'new');
  await rememberRewritten(place.home, 'old', 2);
  const stopped = await run(place, ['stop']);
  assert.match(
    stopped.stderr,
    /Conversations of the last day .*: 1\. They .*can only continue through svc/,
  );
  assert.equal([stopped.code, stopped.stdout], [0, `Stopped (pid ${next.pid})\n`]);
  assert.not.ok(existsSync(pidFile(place.home)));
  place.dispose();
});

test('of two simultaneous starts one runs, and the other says so', async () => {
  const place = makePlace();
  const both = await Promise.all([run(place, START), run(place, START)]);
  const codes = both.map(({ code }) => code).toSorted((a, b) => a - b);
  assert.equal(codes, [0, exitCodes.conflict], both.map(({ stderr }) => stderr).join());
  assert.ok(runningInstance(place.home));
  assert.is((await run(place, ['stop'])).code, 0);
  place.dispose();
});

test('a background start that fails reports the same error here', async () => {
  const server = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const place = makePlace();
  const refused = await run(place, ['start', '--background', '--port', String(port)]);
  assert.equal([refused.code, refused.stdout], [exitCodes.conflict, '']);
  assert.match(refused.stderr, new RegExp(`Port ${port} is taken by`));
  assert.not.ok(existsSync(pidFile(place.home)));
  server.close();
  place.dispose();
});

test('the pid file of a killed proxy does not prevent a start', async () => {
  const place = makePlace();
  await run(place, START);
  const instance = runningInstance(place.home);
  assert.ok(instance);
  signalProcess(instance, 'SIGKILL');
  while (runningInstance(place.home) !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(existsSync(pidFile(place.home)));
  const status = await run(place, ['status']);
  assert.is(status.code, exitCodes.unavailable);
  assert.match(status.stderr, '`svc start --background` starts it');
  const restarted = await run(place, START);
  assert.is(restarted.code, 0, restarted.stderr);
  assert.is((await run(place, ['stop', '--force'])).code, 0);
  place.dispose();
});

test('logs --follow shows new lines until it is interrupted', async () => {
  const { EventEmitter } = await import('node:events');
  const { appendFileSync, mkdirSync } = await import('node:fs');
  const { makeContext } = await import('../../fixtures/cli/run.ts');
  const { runCli } = await import('../run.ts');
  const place = makePlace();
  const file = join(place.home, 'logs', 'svc.log');
  mkdirSync(join(place.home, 'logs'), { recursive: true });
  appendFileSync(file, '{"time":"t","level":"info","msg":"first"}\n');
  const events = new EventEmitter();
  const { context, pieces } = makeContext(place, { events });
  const running = runCli(['logs', '-n', '1', '--follow'], context);
  while (!pieces.stdout.includes('first')) await new Promise((done) => setTimeout(done, 10));
  appendFileSync(file, '{"time":"t","level":"error","msg":"second","n":2}\n');
  while (!pieces.stdout.includes('second')) await new Promise((done) => setTimeout(done, 10));
  events.emit('SIGINT');
  assert.is(await running, 0);
  assert.is(pieces.stdout, 't INFO    first\nt ERROR   second n=2\n');
  place.dispose();
});

test('logs --json prints JSON even if the log is text or a line has neither form', async () => {
  const { appendFileSync, mkdirSync } = await import('node:fs');
  const place = makePlace();
  const file = join(place.home, 'logs', 'svc.log');
  mkdirSync(join(place.home, 'logs'), { recursive: true });
  const entry = { time: '2026-11-23T10:00:00.000Z', level: 'info', msg: 'listens', port: 1 };
  appendFileSync(
    file,
    `${JSON.stringify(entry)}\n2026-11-23T10:00:01.000Z ERROR   failed n=2 at=x\nKilled\n"text"\n`,
  );
  const { stdout } = await run(place, ['logs', '--json']);
  assert.equal(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      entry,
      { time: '2026-11-23T10:00:01.000Z', level: 'error', msg: 'failed n=2 at=x' },
      { msg: 'Killed' },
      { msg: '"text"' },
    ],
  );
  place.dispose();
});

test.run();
