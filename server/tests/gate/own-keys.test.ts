/**
 * Proxy keys in the fields where SDKs put their only key: they grant access and are never
 * forwarded.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { systemClock } from '../../../engine/clock.ts';
import { defineStage } from '../../../engine/index.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import {
  MESSAGE,
  TIMEOUT_MS,
  closeClients,
  exchange,
  json,
} from '../../../fixtures/server/exchange.ts';
import { Talk, isEnd, openTalk } from '../../../fixtures/server/websocket.ts';
import { callerOf } from '../../../stages/model/conversation.ts';
import type { ProxyFrame } from '../../../stages/model/frame.ts';
import { openKeyStore } from '../../auth/auth.ts';

/** A key in our format that no proxy has issued. */
const STRANGE = `svc_${'x'.repeat(43)}`;
const CONFIGURED = 'hunter2-of-the-configuration';
/** Marks a request as coming from another machine. */
const REMOTE = { 'x-forwarded-for': '10.1.2.3' };

type Fields = Readonly<Record<string, string>>;

/** Every header position for a key, as header fields with the key filled in. */
const PLACES: Readonly<Record<string, (key: string) => Fields>> = {
  bearer: (key) => ({ authorization: `Bearer ${key}` }),
  'bearer in lower case': (key) => ({ authorization: `bearer  ${key}` }),
  'no scheme': (key) => ({ authorization: key }),
  'another scheme': (key) => ({ authorization: `Token token="${key}"` }),
  'basic, as password': (key) => ({ authorization: `Basic ${base64(`user:${key}`)}` }),
  'basic, as user': (key) => ({ authorization: `Basic ${base64(`${key}:`)}` }),
  'x-api-key': (key) => ({ 'x-api-key': key }),
  'x-api-key with a scheme': (key) => ({ 'x-api-key': `Bearer ${key}` }),
  'x-goog-api-key': (key) => ({ 'x-goog-api-key': key }),
  'api-key': (key) => ({ 'api-key': key }),
  'glued to a word': (key) => ({ authorization: `Bearer my${key}` }),
  'in a list': (key) => ({ 'x-api-key': `other, ${key}, more` }),
};

/** One path for each way in which a request reaches a provider. */
const PROXIED: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/embeddings'],
  ['POST', '/v1beta/models/gemini-fixture-1:generateContent'],
  ['GET', '/v1/models'],
  ['GET', '/v1/models/m'],
  ['GET', '/v1beta/models'],
  ['GET', '/v1/files'],
  ['POST', '/v1/audio/speech'],
];

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function makeKey(t: TestProxy, label = 'test') {
  const file = join(dirname(t.db), 'keys.json');
  const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
  return { ...store.create({ label }), store };
}

/** Sends a request with a body that suits any path; GET has none. */
function send(t: TestProxy, method: string, path: string, headers: Fields) {
  const body = method === 'POST' ? json({ ...MESSAGE, input: 'x', contents: [{ parts: [] }] }) : {};
  return exchange(t.proxy.port, {
    method,
    path,
    headers,
    ...(typeof body === 'string' && { body }),
  });
}

/** Returns everything that the provider got: heads and bodies. */
const received = (t: TestProxy): string =>
  t.upstream.requests
    .map(({ target, rawHeaders, body }) =>
      [target, ...rawHeaders.flat(), body.toString('latin1')].join('\n'),
    )
    .join('\n');

/** True if `text` contains `key`, plain or in an encoding in which it could be passed on. */
function holds(text: string, key: string): boolean {
  return [key, base64(`user:${key}`), base64(`${key}:`), encodeURIComponent(key)].some((form) =>
    text.includes(form),
  );
}

test('a valid key in any credential field is accepted and removed, and the configured key is sent', () =>
  withProxy({}, async (t) => {
    const { key } = makeKey(t);
    let sent = 0;
    for (const [method, path] of PROXIED) {
      for (const [place, fields] of Object.entries(PLACES)) {
        const { status, text } = await send(t, method, path, { ...REMOTE, ...fields(key) });
        assert.not.ok(status === 401, `${place} on ${path}: ${status} ${text}`);
        sent += 1;
      }
      const query = `${path}${path.includes('?') ? '&' : '?'}a=b&key=${key}`;
      assert.is.not((await send(t, method, query, REMOTE)).status, 401, query);
      const encoded = `${path}?k%65y=svc%5F${key.slice(4)}&a=b`;
      assert.is.not((await send(t, method, encoded, REMOTE)).status, 401, encoded);
      sent += 2;
    }
    assert.is(t.upstream.requests.length, sent, 'each reached the provider once');
    assert.not.ok(holds(received(t), key));
    for (const { rawHeaders, target } of t.upstream.requests) {
      assert.match(rawHeaders.flat().join('\n'), /(?:messages|chat|generative)-key/);
      if (target.includes('?')) assert.match(target, /\?a=b$/);
    }
  }));

test('a path that several providers share still goes to the provider of the credential field', () =>
  withProxy({}, async (t) => {
    const { key } = makeKey(t);
    const keys: Fields = {
      'x-api-key': 'messages-key',
      'x-goog-api-key': 'generative-key',
      authorization: 'chat-key',
    };
    for (const [field, configured] of Object.entries(keys)) {
      const value = field === 'authorization' ? `Bearer ${key}` : key;
      const { status } = await send(t, 'GET', '/v1/models', { [field]: value });
      assert.is(status, 200, field);
      assert.match(t.upstream.requests.at(-1)!.rawHeaders.join('\n'), configured, field);
    }
  }));

test('an unknown or revoked key of our format is 401 from anywhere and reaches no provider', () =>
  withProxy({}, async (t) => {
    const { key, store } = makeKey(t);
    store.revoke('test');
    for (const [bad, code] of [
      [STRANGE, 'AUTH_001'],
      ['svc_short', 'AUTH_001'],
      [key, 'AUTH_003'],
    ] as const) {
      for (const where of [{}, REMOTE]) {
        for (const [method, path] of [
          ...PROXIED,
          ['GET', '/metrics'],
          ['GET', '/stats'],
        ] as const) {
          for (const [place, fields] of Object.entries(PLACES)) {
            // Joined to other text, only an issued key can be distinguished from a foreign token.
            if (bad !== key && place === 'glued to a word') continue;
            const { status, text } = await send(t, method, path, { ...where, ...fields(bad) });
            assert.is(status, 401, `${place} on ${path}`);
            assert.match(text, code);
            assert.not.match(text, bad);
          }
          assert.is((await send(t, method, `${path}?key=${bad}`, where)).status, 401, path);
        }
      }
    }
    assert.is(t.upstream.requests.length, 0);
  }));

test('our key is not forwarded in any other header, parameter or path either', () =>
  withProxy({}, async (t) => {
    const { key } = makeKey(t);
    for (const name of [
      'cookie',
      'x-auth-token',
      'helicone-auth',
      'x-portkey-api-key',
      'user-agent',
    ]) {
      const { status } = await send(t, 'POST', '/v1/messages', { [name]: `a=${key}` });
      assert.is(status, 200, name);
    }
    assert.is((await send(t, 'GET', `/v1/files?after=${key}&limit=2`, {})).status, 200);
    assert.match(t.upstream.requests.at(-1)!.target, /\?limit=2$/);
    for (const spelt of [key, key.replace('v', '%76'), `x.${key}`])
      assert.is((await send(t, 'GET', `/v1/models/${spelt}`, {})).status, 400);
    assert.not.ok(holds(received(t), key));
  }));

test("the client's own provider key is sent if ours is in another field", () =>
  withProxy({}, async (t) => {
    const { key } = makeKey(t);
    const own = { authorization: 'Bearer sk-ant-own', 'x-api-key': key };
    assert.is((await send(t, 'POST', '/v1/messages', { ...REMOTE, ...own })).status, 200);
    const fields = t.upstream.requests[0]!.rawHeaders.flat();
    assert.ok(fields.includes('Bearer sk-ant-own'));
    assert.not.ok(fields.some((field) => field.toLowerCase() === 'x-api-key'));
    const others = { 'x-svc-key': key, 'x-api-key': STRANGE };
    assert.is((await send(t, 'POST', '/v1/messages', others)).status, 401);
    assert.is(t.upstream.requests.length, 1);
    // A long foreign token that happens to contain our key prefix.
    const token = `Bearer eyJ${'a'.repeat(50)}svc_${'b'.repeat(60)}.c`;
    assert.is((await send(t, 'POST', '/v1/messages', { authorization: token })).status, 200);
    assert.ok(t.upstream.requests[1]!.rawHeaders.flat().includes(token));
  }));

test('the key of the configuration is one of ours, whatever it looks like', () =>
  withProxy(
    { yaml: `security:\n  api_key: ${CONFIGURED}\n  require_api_key: true\n` },
    async (t) => {
      assert.is((await send(t, 'POST', '/v1/messages', {})).status, 401);
      for (const [place, fields] of Object.entries(PLACES)) {
        const { status } = await send(t, 'POST', '/v1/messages', fields(CONFIGURED));
        const isBare = !['another scheme', 'glued to a word', 'in a list'].includes(place);
        assert.is(status, isBare ? 200 : 401, place);
      }
      assert.is((await send(t, 'POST', `/v1/messages?key=${CONFIGURED}`, {})).status, 200);
      assert.not.ok(holds(received(t), CONFIGURED));
    },
  ));

test('our own pages can be read with a bearer token, as Prometheus does', () =>
  withProxy({}, async (t) => {
    const { key } = makeKey(t);
    for (const path of ['/metrics', '/stats', '/recent', '/savings', '/traces']) {
      assert.is((await send(t, 'GET', path, REMOTE)).status, 401, path);
      const bearer = { ...REMOTE, authorization: `Bearer ${key}` };
      assert.is((await send(t, 'GET', path, bearer)).status, 200, path);
    }
  }));

/** Opens `/ws` and resolves with the connection, or with the status that refused it. */
async function open(url: string, protocols: string[], headers: Fields): Promise<Talk | number> {
  const socket = new WebSocket(url, protocols, { headers });
  const started = new Talk(socket);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const refused = once(socket, 'unexpected-response', { signal }).then(([request, response]) => {
    request.destroy();
    return (response as { statusCode: number }).statusCode;
  });
  const opened = once(socket, 'open', { signal }).then(() => started);
  refused.catch(() => undefined);
  opened.catch(() => undefined);
  socket.on('error', () => undefined);
  return Promise.race([opened, refused]);
}

test('a WebSocket accepts the key as subprotocol, in the query, in a header and in a frame', () =>
  withProxy({}, async (t) => {
    const { key } = makeKey(t);
    const url = `ws://127.0.0.1:${t.proxy.wsPort}/ws`;
    const ways: readonly (readonly [string, string[], Fields])[] = [
      [url, ['realtime', `openai-insecure-api-key.${key}`], {}],
      [url, ['svc', key], {}],
      [`${url}?key=${key}`, [], {}],
      [`${url}?api_key=${key}`, [], {}],
      [url, [], { authorization: `Bearer ${key}` }],
      [url, [], { 'x-api-key': key }],
    ];
    assert.is(await open(url, [], REMOTE), 401);
    for (const [address, protocols, fields] of ways) {
      const bad = protocols.map((protocol) => protocol.replace(key, STRANGE));
      const wrong = Object.entries(fields).map(([name, value]) => [
        name,
        value.replace(key, STRANGE),
      ]);
      const refused = await open(address.replace(key, STRANGE), bad, Object.fromEntries(wrong));
      assert.is(refused, 401, `${address} ${protocols.join()}`);
      const opened = await open(address, protocols, { ...REMOTE, ...fields });
      assert.instance(opened, Talk, `${address} ${protocols.join()}`);
      if (typeof opened === 'number') continue;
      assert.not.match(opened.socket.protocol, 'svc_');
      opened.ask(MESSAGE);
      await opened.until(isEnd);
      opened.socket.close();
    }
    assert.is(t.upstream.requests.length, ways.length);
    const local = await openTalk(t.proxy.wsPort);
    assert.ok((await local.answered(json(MESSAGE, { api_key: key }))).some(isEnd));
    const [strange] = await local.answered(json(MESSAGE, { api_key: STRANGE }));
    assert.is(strange?.error?.code, 'AUTH_001');
    const endpoint = `/v1/messages?key=${STRANGE}`;
    const [inPath] = await local.answered(json(MESSAGE, { endpoint }));
    assert.is(inPath?.error?.code, 'AUTH_001');
    for (const member of ['authorization', 'x-api-key', 'key', 'token']) {
      const [refused] = await local.answered(json(MESSAGE, { [member]: `Bearer ${STRANGE}` }));
      assert.is(refused?.error?.code, 'AUTH_001', member);
    }
    local.socket.close();
    assert.is(t.upstream.requests.length, ways.length + 1);
    assert.not.ok(holds(received(t), key));
    assert.not.ok(received(t).includes('svc_'));
  }));

test('a key identifies the same caller in every field, and two keys are two callers', async () => {
  const callers: string[] = [];
  const watching = defineStage<ProxyFrame, undefined, undefined>({
    name: 'callers',
    build: () => ({
      watch: { request: ({ request }) => void callers.push(callerOf(request.original.body)) },
    }),
  });
  const stage = watching(undefined, undefined);
  await withProxy({ insertions: [{ stage, plugin: 'callers', before: 'route' }] }, async (t) => {
    const [one, two] = [makeKey(t).key, makeKey(t).key];
    for (const key of [one, two]) {
      for (const fields of [{ 'x-svc-key': key }, PLACES['bearer']!(key), { 'x-api-key': key }]) {
        const { status } = await send(t, 'POST', '/v1/messages', { ...REMOTE, ...fields });
        assert.is(status, 200);
        const opened = await openTalk(t.proxy.wsPort, { ...REMOTE, ...fields });
        assert.ok((await opened.answered(json(MESSAGE))).some(isEnd));
        opened.socket.close();
      }
    }
    assert.is(callers.length, 12);
    assert.is(new Set(callers.slice(0, 6)).size, 1);
    assert.is(new Set(callers.slice(6)).size, 1);
    assert.is(new Set(callers).size, 2);
    assert.not.ok(received(t).includes('svc_'));
  });
});

test('no key is left in captures, traces, logs or the ledger', () =>
  withProxy(
    {
      yaml: 'capture:\n  enabled: true\nlogging:\n  level: debug\naudit:\n  enabled: true\ncache:\n  enabled: true\n',
    },
    async (t) => {
      const { key } = makeKey(t);
      const body = json({ ...MESSAGE, temperature: 0 });
      for (const bad of [key, STRANGE]) {
        for (const [place, fields] of Object.entries(PLACES)) {
          if (bad !== key && place === 'glued to a word') continue;
          const headers = { ...fields(bad), 'x-session-id': bad, 'x-svc-skill': bad };
          await exchange(t.proxy.port, { headers, body, path: `/v1/messages?after=${bad}` });
        }
      }
      await t.rows(Object.keys(PLACES).length);
      await t.proxy.services.captures.flush();
      const shown = ['/recent', '/traces', '/trace/last', '/stats', '/metrics'];
      for (const path of shown) {
        const { text } = await exchange(t.proxy.port, { method: 'GET', path });
        assert.not.match(text, key, path);
        assert.not.match(text, STRANGE, path);
      }
      const kept = filesBelow(dirname(t.db));
      assert.ok(kept.length > 2);
      for (const [file, bytes] of kept) {
        for (const bad of [key, STRANGE]) {
          const forms = [bad, base64(bad).slice(4, -4)].map((form) => Buffer.from(form));
          assert.not.ok(
            forms.some((form) => bytes.includes(form)),
            `${file} holds a key`,
          );
        }
      }
    },
  ));

test('a key of ours that is configured in place of a provider key is not used', () =>
  withProxy({ env: { MSGPROV_API_KEY: '', CHATPROV_API_KEY: '' } }, async (t) => {
    const { key } = makeKey(t);
    t.configure(`providers:\n  messages:\n    api_key: ${key}\n`);
    const reloaded = await exchange(t.proxy.port, { path: '/config/reload' });
    assert.match(reloaded.text, /is a key of this proxy/);
    assert.is((await send(t, 'POST', '/v1/messages', {})).status, 401);
    assert.is(t.upstream.requests.length, 0);
  }));

/** Returns every file below `folder`, decompressed if necessary. */
function filesBelow(folder: string): (readonly [string, Buffer])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => {
      const bytes = readFileSync(path);
      const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
      return [path, isPacked ? gunzipSync(bytes) : bytes] as const;
    });
}

test.after(closeClients);
test.run();
