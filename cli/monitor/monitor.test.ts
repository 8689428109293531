/** `svc monitor`: the page of a running proxy, or its own until one starts. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exchange } from '../../fixtures/server/exchange.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place, Spawned } from '../../fixtures/cli/run.ts';

const serve = async (place: Place, env: Readonly<Record<string, string>> = {}) => {
  const proxy = start(place, ['serve', '--port', '0'], env);
  const [, url = '', wsUrl = ''] = await proxy.prints(/listens on (\S+) \(WebSocket (\S+?)\)/);
  return { proxy, url, wsUrl };
};

async function end(spawned: Spawned): Promise<number> {
  spawned.child.kill('SIGTERM');
  return (await spawned.ended).code;
}

async function urlOf(monitor: Spawned): Promise<string> {
  await monitor.prints(/Ctrl-C ends it/);
  return monitor.output.stdout.trim();
}

const isPage = async (url: string): Promise<boolean> => {
  const response = await fetch(url);
  const text = await response.text();
  return response.status === 200 && text.includes('/dashboard/app.js');
};

test('a running proxy serves the monitor on its other port, and the command prints the address', async () => {
  const place = makePlace();
  const { proxy, wsUrl } = await serve(place);
  try {
    const own = `http://${new URL(wsUrl).host}/`;
    const named = await run(place, ['monitor']);
    assert.is(named.code, 0);
    assert.is(named.stdout, `${own}\n`);
    assert.equal(JSON.parse((await run(place, ['monitor', '--json'])).stdout), { url: own });
    assert.ok(await isPage(own));
    const root = await fetch(own, { headers: { accept: 'application/json' } });
    assert.is(((await root.json()) as { name: string }).name, 'svc');
    const events = await fetch(`${own}dashboard/events`);
    const { value } = await events.body!.getReader().read();
    assert.match(new TextDecoder().decode(value), /^retry: /);
    await events.body?.cancel().catch(() => undefined);
  } finally {
    await end(proxy);
    place.dispose();
  }
});

test('the monitor on its own port shows the state of the proxy, or says that none is running', async () => {
  const place = makePlace();
  const monitor = start(place, ['monitor', '--port', '0']);
  try {
    const url = await urlOf(monitor);
    assert.ok(await isPage(url));
    const away = await fetch(`${url}dashboard/api/requests`);
    assert.is(away.status, 503);
    const { error } = (await away.json()) as { error: { message: string } };
    assert.match(error.message, /svc is not running.*svc start/);
    const { proxy } = await serve(place);
    const there = await fetch(`${url}dashboard/api/requests`);
    assert.equal(await there.json(), { requests: [], complete: true });
    const events = await fetch(`${url}dashboard/events`);
    assert.match(events.headers.get('content-type') ?? '', /event-stream/);
    const reader = events.body!.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /^retry: /);
    assert.is(await end(proxy), 0);
    while (!(await reader.read()).done);
    assert.is(await end(monitor), 0);
  } finally {
    monitor.child.kill('SIGKILL');
    place.dispose();
  }
});

test('the server of the monitor is read-only and accepts only this machine', async () => {
  const place = makePlace();
  const monitor = start(place, ['monitor', '--port', '0']);
  try {
    const { port } = new URL(await urlOf(monitor));
    const status = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      (await exchange(Number(port), { path, method, headers })).status;
    const data = '/dashboard/api/requests';
    assert.is(await status(data), 503);
    assert.is(await status(data, { host: 'evil.example' }), 403);
    assert.is(await status('/', { host: 'evil.example' }), 403);
    assert.is(await status(data, { origin: 'https://evil.example' }), 401);
    assert.is(await status(data, { 'x-forwarded-for': '10.0.0.9' }), 401);
    for (const path of ['/stop', '/pause', '/config/reload', '/v1/messages', '/stats', '/ws'])
      for (const method of ['GET', 'POST'])
        assert.ok([404, 405].includes(await status(path, {}, method)), `${method} ${path}`);
    assert.is(await status(data, {}, 'POST'), 405);
    assert.is(await status('/dashboard/api/../../stop'), 404);
  } finally {
    await end(monitor);
    place.dispose();
  }
});

/** Returns an unused port. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

test('a starting proxy takes over the port of the monitor, which prints the new address', async () => {
  const place = makePlace();
  const env = { SVC_WS_PORT: await freePort() };
  const monitor = start(place, ['monitor'], env);
  const url = await urlOf(monitor);
  assert.is(new URL(url).port, env.SVC_WS_PORT);
  const proxy = start(place, ['serve', '--port', '0'], env);
  try {
    await proxy.prints(/listens on/);
    const { code, stderr } = await monitor.ended;
    assert.is(code, 0);
    assert.ok(stderr.includes(`serves it now: ${url}`), stderr);
    assert.ok(await isPage(url));
  } finally {
    monitor.child.kill('SIGKILL');
    await end(proxy);
    place.dispose();
  }
});

test.run();
