import { get, request } from 'node:http';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { systemClock } from '../../engine/clock.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { controlPath } from '../../server/control/control.ts';
import { pidFile } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start as startProcess } from '../../fixtures/cli/run.ts';
import type { Place, Spawned } from '../../fixtures/cli/run.ts';

const URL_LINE = /listens on (http:\S+)/;
const ANY_PORT = ['--port', '0'];

/** Processes left running by a test: a failed one ends before it stops its proxy. */
const running: Spawned[] = [];

const start: typeof startProcess = (...args) => {
  const proxy = startProcess(...args);
  running.push(proxy);
  return proxy;
};

test.after.each(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

async function startListening(place: Place, env: Readonly<Record<string, string>> = {}) {
  const proxy = start(place, ['serve', ...ANY_PORT], env);
  const [, url = ''] = await proxy.prints(URL_LINE);
  return { proxy, url };
}

async function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}

/**
 * Posts a streaming request; resolves at the response head, and `ended` with all bytes or the
 * failure.
 */
async function stream(url: string) {
  const body = {
    model: 'm',
    max_tokens: 9,
    stream: true,
    messages: [{ role: 'user', content: 'x' }],
  };
  return new Promise<{ status: number; ended: Promise<string> }>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': 'k' };
    const call = request(
      `${url}/v1/messages`,
      { method: 'POST', headers, agent: false },
      (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString()));
        const ended = new Promise<string>((done) => {
          response.on('end', () => done(text));
          response.on('error', (error) => done(`${text}\nbroken: ${error.message}`));
        });
        resolve({ status: response.statusCode ?? 0, ended });
      },
    );
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}

test('serve prints its address and responds, and svc stop ends it', async () => {
  const place = makePlace();
  const { proxy, url } = await startListening(place, { OPENAI_API_KEY: 'key-nobody-may-see-1234' });
  // The first line may arrive before the others.
  await proxy.prints(/Log .*\n/);
  assert.is(proxy.output.stdout, '');
  assert.match(proxy.output.stderr, /WebSocket ws:\/\/127\.0\.0\.1:\d+\/ws/);
  assert.match(proxy.output.stderr, new RegExp(`ANTHROPIC_BASE_URL=${url} claude`));
  assert.match(proxy.output.stderr, new RegExp(`OPENAI_BASE_URL=${url}/v1$`, 'm'));
  assert.match(proxy.output.stderr, /chat from OPENAI_API_KEY/);
  assert.not.ok(proxy.output.stderr.includes('key-nobody'));
  assert.not.ok(proxy.output.stderr.includes('\u001b['));
  assert.is(await statusOf(`${url}/health`), 200);
  const status = JSON.parse((await run(place, ['status', '--json'])).stdout) as Record<
    string,
    unknown
  >;
  assert.equal([status['running'], status['pid'], status['url']], [true, proxy.child.pid, url]);
  const stop = await run(place, ['stop']);
  assert.equal([stop.code, stop.stdout], [0, `Stopped (pid ${proxy.child.pid})\n`]);
  assert.is((await proxy.ended).code, 0);
  assert.not.ok(existsSync(pidFile(place.home)));
  assert.not.ok(existsSync(controlPath(place.home)));
  place.dispose();
});

test('a second proxy with the same home is told about the first', async () => {
  const place = makePlace();
  const { proxy, url } = await startListening(place);
  const second = await start(place, ['serve', ...ANY_PORT]).ended;
  assert.is(second.code, exitCodes.conflict);
  assert.match(
    second.stderr,
    new RegExp(`svc is already running, on ${url} \\(pid ${proxy.child.pid}\\)`),
  );
  assert.match(second.stderr, /svc stop/);
  proxy.child.kill('SIGTERM');
  assert.is((await proxy.ended).code, 0);
  place.dispose();
});

test('a port in use is reported with the process that has it', async () => {
  const server = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const place = makePlace();
  const refused = await start(place, ['serve', '--port', String(port)]).ended;
  assert.is(refused.code, exitCodes.conflict);
  assert.match(refused.stderr, new RegExp(`Port ${port} is taken by .*\\(pid ${process.pid}\\)`));
  assert.match(refused.stderr, /--port or SVC_PORT/);
  assert.not.ok(existsSync(pidFile(place.home)));
  server.close();
  place.dispose();
});

test('a port in use by another svc is reported as such', async () => {
  const place = makePlace();
  const other = makePlace();
  const { proxy, url } = await startListening(other);
  const refused = await start(place, ['serve', '--port', new URL(url).port]).ended;
  assert.is(refused.code, exitCodes.conflict);
  assert.match(refused.stderr, new RegExp(`taken by another svc \\(pid ${proxy.child.pid}\\)`));
  proxy.child.kill('SIGTERM');
  await proxy.ended;
  place.dispose();
  other.dispose();
});

test('SIGTERM lets a slow stream finish, refuses new requests, and exits with 0', async () => {
  const upstream = await startUpstream();
  upstream.script(undefined, 'slow-drip', { bytes: 200, everyMs: 100 });
  const place = makePlace();
  const { proxy, url } = await startListening(place, { MSGPROV_BASE_URL: upstream.url });
  const slow = await stream(url);
  assert.is(slow.status, 200);
  proxy.child.kill('SIGTERM');
  await proxy.prints(/Draining 1 request /);
  assert.is((await stream(url)).status, 503);
  assert.match(await slow.ended, /event: message_stop/);
  const ended = await proxy.ended;
  assert.equal([ended.code, ended.signal], [0, null]);
  await upstream.close();
  place.dispose();
});

test('a second signal ends the proxy immediately', async () => {
  const upstream = await startUpstream();
  upstream.script(undefined, 'slow-drip', { bytes: 200, everyMs: 10_000 });
  const place = makePlace();
  const { proxy, url } = await startListening(place, { MSGPROV_BASE_URL: upstream.url });
  const slow = await stream(url);
  proxy.child.kill('SIGINT');
  await proxy.prints(/press Ctrl-C again/);
  proxy.child.kill('SIGINT');
  assert.is((await proxy.ended).code, exitCodes.cancelled);
  assert.not.match(await slow.ended, /event: message_stop/);
  await upstream.close();
  place.dispose();
});

test('svc stop says what it waits for; with --force it does not wait', async () => {
  // Twenty times slower: a proxy that waits for a processor is not killed after three seconds.
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 20 };
  const upstream = await startUpstream();
  const place = makePlace();
  for (const force of [false, true]) {
    upstream.reset();
    upstream.script(undefined, 'slow-drip', { bytes: 200, everyMs: force ? 10_000 : 150 });
    const { proxy, url } = await startListening(place, { MSGPROV_BASE_URL: upstream.url });
    const slow = await stream(url);
    const stop = await (force ? run(place, ['stop', '--force'], { clock }) : run(place, ['stop']));
    assert.is(stop.code, 0);
    if (!force) assert.match(stop.stderr, /Waiting for 1 request /);
    assert.not.match(stop.stderr, /killing/);
    assert.is(/event: message_stop/.test(await slow.ended), !force);
    await proxy.ended;
  }
  await upstream.close();
  place.dispose();
});

test('SIGHUP reloads the configuration and reports the outcome', async () => {
  const place = makePlace();
  const file = join(place.folder, 'svc.yaml');
  writeFileSync(file, 'logging:\n  level: info\n');
  const proxy = start(place, ['serve', ...ANY_PORT, '--config', 'svc.yaml']);
  await proxy.prints(URL_LINE);
  writeFileSync(file, 'logging:\n  level: warning\n');
  proxy.child.kill('SIGHUP');
  await proxy.prints(/Configuration reloaded/);
  writeFileSync(file, 'logging:\n  level: loud\n');
  proxy.child.kill('SIGHUP');
  await proxy.prints(/error: .*loud/);
  proxy.child.kill('SIGTERM');
  assert.is((await proxy.ended).code, 0);
  assert.match(
    readFileSync(join(place.home, 'logs', 'svc.log'), 'utf8'),
    /configuration not reloaded/,
  );
  place.dispose();
});

test('under umask 000 everything is private', async () => {
  const place = makePlace();
  const umask = process.umask(0);
  const starting = startListening(place);
  process.umask(umask);
  const { proxy } = await starting;
  // The log is opened by its first line, a moment after the start.
  while (!existsSync(join(place.home, 'logs', 'svc.log')))
    await new Promise((resolve) => setTimeout(resolve, 10));
  const modes = ['svc.pid', 'control.sock', 'monitor.db', 'logs/svc.log'].map(
    (name) => statSync(join(place.home, name)).mode & 0o777,
  );
  assert.equal(modes, [0o600, 0o600, 0o600, 0o600]);
  assert.is(statSync(place.home).mode & 0o777, 0o700);
  assert.is(statSync(join(place.home, 'logs')).mode & 0o777, 0o700);
  proxy.child.kill('SIGTERM');
  await proxy.ended;
  place.dispose();
});

test('a wrong configuration is reported without a stack trace and leaves nothing behind', async () => {
  const place = makePlace();
  writeFileSync(join(place.folder, 'svc.yaml'), 'server:\n  prot: 1\n');
  const refused = await start(place, ['serve', '--config', 'svc.yaml']).ended;
  assert.equal([refused.code, refused.stdout], [exitCodes.config, '']);
  assert.match(refused.stderr, /server\.prot is not a setting; did you mean server\.port\?/);
  assert.not.match(refused.stderr, /\n\s+at /);
  assert.not.ok(existsSync(pidFile(place.home)));
  place.dispose();
});

test.run();
