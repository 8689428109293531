/**
 * A browser on another machine: a key or a link is exchanged for a cookie, valid until the key ends
 * or until logout.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { createKeyring, openKeyStore } from '../auth/auth.ts';
import { createBrowserSessions } from '../auth/browser-sessions.ts';
import { folderForEach } from '../../fixtures/ledger/temp-ledger.ts';
import { createRandom } from '../../fixtures/random.ts';

const files = folderForEach(test);
const KEY = `svc_${'k'.repeat(43)}`;
const OTHER = `svc_${'o'.repeat(43)}`;
const DATA = '/dashboard/api/requests';
/** Marks a request as from another machine, as a tunnel does. */
const REMOTE = { 'x-forwarded-for': '10.0.0.9' };

const logIn = (t: TestProxy, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  exchange(t.proxy.port, {
    path: '/dashboard/login',
    headers: { 'content-type': 'application/json', ...REMOTE, ...headers },
    body: JSON.stringify(body),
  });

const cookieOf = ({ headers }: Awaited<ReturnType<typeof logIn>>): string =>
  String(headers['set-cookie']).split(';')[0] ?? '';

test('a key is exchanged for a strict cookie that can only read the dashboard', () =>
  withProxy({ yaml: `security: { api_key: ${KEY} }` }, async (t) => {
    const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
      (await exchange(t.proxy.port, { path, method, headers: { ...REMOTE, ...headers } })).status;
    for (const wrong of [{ key: OTHER }, { key: '' }, {}, { link: 'x' }, { key: 5 }, null, [KEY]])
      assert.is((await logIn(t, wrong)).status, 401, JSON.stringify(wrong));
    assert.is((await logIn(t, { key: KEY }, { origin: 'https://evil.example' })).status, 401);
    const response = await logIn(t, { key: KEY });
    assert.is(response.status, 200);
    assert.match(
      String(response.headers['set-cookie']),
      /^svc_dashboard=config\.\w+\.[\w-]{43}; Path=\/dashboard; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    assert.not.match(String(response.headers['set-cookie']), new RegExp(KEY));
    const cookie = cookieOf(response);
    assert.is(await status(DATA, {}), 401);
    assert.is(await status(DATA, { cookie }), 200);
    assert.is(await status(DATA, { cookie: `a=b; ${cookie}; c=d` }), 200);
    assert.is(await status(DATA, { cookie, origin: 'https://evil.example' }), 401);
    assert.is(await status(DATA, { cookie, 'sec-fetch-site': 'cross-site' }), 401);
    for (const path of ['/stats', '/metrics', '/v1/svc/lost/last', '/v1/models', '/dashboards'])
      assert.is(await status(path, { cookie }), 401, path);
    for (const path of [DATA, '/v1/messages', '/config/reload', '/ingest'])
      assert.ok([401, 403].includes(await status(path, { cookie }, 'POST')), path);
    const [start = '', expires = '', signature = ''] = cookie.split('.');
    const forged = [
      `${start}.${expires}0.${signature}`,
      `${start}.${expires}.${signature.slice(0, -2)}AA`,
      `${start}.${expires}.`,
      `svc_dashboard=other.${expires}.${signature}`,
      'svc_dashboard=',
      'svc_dashboard=..',
    ];
    for (const one of forged) assert.is(await status(DATA, { cookie: one }), 401, one);
    // Replaces the key that the cookie is bound to.
    t.configure(`security: { api_key: ${OTHER} }`);
    await t.proxy.reload();
    assert.is(await status(DATA, { cookie }), 401);
  }));

test('a logout ends only its own session', () =>
  withProxy({ yaml: `security: { api_key: ${KEY} }` }, async (t) => {
    const post = (headers: Record<string, string>) =>
      exchange(t.proxy.port, { path: '/dashboard/logout', headers: { ...REMOTE, ...headers } });
    const status = async (cookie: string) =>
      (await exchange(t.proxy.port, { path: DATA, method: 'GET', headers: { ...REMOTE, cookie } }))
        .status;
    const cookie = cookieOf(await logIn(t, { key: KEY }));
    // Cookies created in the same second are equal.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const other = cookieOf(await logIn(t, { key: KEY }));
    assert.is((await post({ cookie, origin: 'https://evil.example' })).status, 401);
    assert.is(await status(cookie), 200);
    const response = await post({ cookie });
    assert.is(response.status, 200);
    assert.match(String(response.headers['set-cookie']), /^svc_dashboard=; .*Max-Age=0;/);
    assert.is(await status(cookie), 401);
    assert.is(await status(other), 200);
    assert.is((await post({})).status, 200, 'without one');
  }));

test('an open event stream ends with the key that opened it, and others continue', () =>
  withProxy({ yaml: `security: { api_key: ${KEY} }` }, async (t) => {
    const cookie = cookieOf(await logIn(t, { key: KEY }));
    const open = async (headers: Record<string, string>): Promise<IncomingMessage> => {
      const { port } = t.proxy;
      const call = request({ port, path: '/dashboard/events', headers, agent: false }).end();
      const [answer] = (await once(call, 'response')) as [IncomingMessage];
      assert.is(answer.statusCode, 200);
      return answer.resume();
    };
    const own = await open({});
    const remote = await Promise.all([
      open({ ...REMOTE, cookie }),
      open({ ...REMOTE, 'x-svc-key': KEY }),
    ]);
    t.configure(`security: { api_key: ${OTHER} }`);
    await t.proxy.reload();
    const signal = AbortSignal.timeout(120_000);
    await Promise.all(remote.map((stream) => once(stream, 'end', { signal })));
    assert.not(own.readableEnded);
    own.destroy();
  }));

test('without a key the login body is limited to the size of a key', () =>
  withProxy({ yaml: `security: { api_key: ${KEY} }` }, async (t) => {
    assert.is((await logIn(t, { key: 'x'.repeat(5000) })).status, 413);
    assert.is((await logIn(t, { key: 'x'.repeat(3000) })).status, 401);
  }));

test('without a key a browser gets the empty page, and a program the error', () =>
  withProxy({}, async (t) => {
    const get = (path: string, accept: string) =>
      exchange(t.proxy.port, { path, method: 'GET', headers: { ...REMOTE, accept } });
    for (const path of ['/dashboard', '/dashboard/requests?range=7d', '/dashboard/eventsx']) {
      const page = await get(path, 'text/html,*/*');
      assert.is(page.status, 401, path);
      assert.match(page.headers['content-type'] ?? '', /^text\/html/);
      assert.match(String(page.headers['content-security-policy']), /^default-src 'none'/);
      assert.match((await get(path, '*/*')).text, /"AUTH_001"/);
    }
    for (const path of [DATA, '/dashboard/events', '/stats', '/dashboards'])
      assert.match((await get(path, 'text/html')).text, /"AUTH_001"/, path);
    assert.is((await get('/dashboard/login', 'text/html')).status, 200);
  }));

test('a link works once and for five minutes, and a cookie ends with its key or its time', () => {
  const clock = createManualClock();
  const uniform = createRandom(1);
  const random = (size: number): Buffer =>
    Buffer.from(Array.from({ length: size }, () => Math.floor(uniform() * 256)));
  const file = join(files.at(), 'keys.json');
  const store = openKeyStore({ file, clock, random });
  const keys = createKeyring({ file, clock });
  const sessions = createBrowserSessions({ keys, clock, random });
  assert.throws(() => sessions.newLink(), /no proxy key/);
  const { stored } = store.create({ label: 'laptop' });
  clock.advance(1001);
  const link = sessions.newLink();
  assert.is(link.keyId, stored.id);
  const header = sessions.withLink(link.token, true) ?? '';
  assert.match(header, /; Secure$/);
  assert.is(sessions.withLink(link.token, true), undefined, 'used');
  const late = sessions.newLink();
  clock.advance(5 * 60_000);
  assert.is(sessions.withLink(late.token, false), undefined, 'too late');
  const cookie = header.split(';')[0]!;
  assert.is(sessions.check(cookie)?.keyId, stored.id);
  const restarted = createBrowserSessions({ keys, clock, random });
  assert.is(restarted.check(cookie), undefined, 'a signature of another process is rejected');
  const second = store.create({ label: 'desk' });
  clock.advance(1001);
  const later = sessions.withKey(second.key, false)!.split(';')[0]!;
  store.revoke(stored.id);
  clock.advance(1001);
  assert.is(sessions.check(cookie), undefined, 'revoked');
  assert.is(sessions.check(later)?.keyId, second.stored.id);
  clock.advance(7 * 86_400_000);
  assert.is(sessions.check(later), undefined, 'over');
  const many = Array.from({ length: 17 }, () => sessions.newLink().token);
  assert.is(sessions.withLink(many[0]!, false), undefined, 'the queue is limited');
  assert.ok(sessions.withLink(many[16]!, false));
});

test.after(closeClients);
test.run();
