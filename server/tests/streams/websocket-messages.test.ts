/** A WebSocket message is a request like any other, with the same limits and the same bytes. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';
import { isEnd, isError, openTalk } from '../../../fixtures/server/websocket.ts';

test('a message that could not be sent over HTTP does not count against the provider', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    for (const endpoint of ['/v1/messages?x= y', '/v1/messages?\r\n', '/v1/messages?東']) {
      for (let n = 0; n < 5; n += 1) {
        const [reported] = await client.answered(json(MESSAGE, { endpoint }));
        assert.is(reported?.error?.type, 'bad_request');
      }
    }
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
    client.socket.terminate();
  }));

test('every frame counts against the rate limit', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 4 }' }, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    const codes: (string | undefined)[] = [];
    for (const frame of [json(MESSAGE), 'bad', json(MESSAGE), json(MESSAGE), 'bad']) {
      codes.push((await client.answered(frame)).at(-1)?.error?.code);
    }
    assert.equal(codes, [undefined, 'VALIDATION_001', undefined, 'RATELIMIT_001', 'RATELIMIT_001']);
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 429);
    assert.is(t.upstream.requests.length, 2);
    const rows = await t.rows(6);
    assert.equal(
      rows.map(({ status, endpoint }) => [status, endpoint]),
      [
        [200, '/v1/messages'],
        [400, '/ws'],
        [200, '/v1/messages'],
        [429, '/ws'],
        [429, '/ws'],
        [429, '/v1/messages'],
      ],
    );
    client.socket.terminate();
  }));

test('refusals on a provider’s path are in the ledger, others are not', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 1 }' }, async (t) => {
    const send = (sent: Sent) => exchange(t.proxy.port, sent);
    await send({ path: '/', method: 'GET' });
    const refused = await send({ path: '/v1/messages?beta=true', body: json(MESSAGE) });
    assert.is(refused.status, 429);
    for (const path of ['/stats', '/nowhere', '/v1/svc/blocks/x', '/v1/messages'])
      assert.is((await send({ path, method: 'GET' })).status, 429, path);
    const evil = { host: 'evil.example' };
    assert.is((await send({ body: json(MESSAGE), headers: evil })).status, 403);
    const [row, ...more] = await t.rows(1);
    assert.equal(more, []);
    assert.equal(
      [row?.id, row?.endpoint, row?.status, row?.outcome, row?.errorCode, row?.attempts],
      [refused.headers['x-request-id'], '/v1/messages', 429, 'error', 'RATELIMIT_001', 0],
    );
    assert.is(row?.latencyMs, null, 'a refused request says nothing about response times');
  }));

test('a reload does not reset the rate limit', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 2 }' }, async (t) => {
    for (const status of [200, 200, 429])
      assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, status);
    t.configure('security: { rate_limit_per_minute: 2 }\nlogging: { level: error }');
    await t.proxy.reload();
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 429);
  }));

test('a draining proxy finishes running requests and accepts no frame', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'slow-first-event', { delayMs: 300 });
    const busy = await openTalk(t.proxy.wsPort);
    const idle = await openTalk(t.proxy.wsPort);
    busy.ask(MESSAGE, { stream: true });
    await t.upstream.nextRequest();
    const stopped = t.proxy.stop();
    busy.ask(MESSAGE, { stream: true });
    idle.ask(MESSAGE);
    for (const each of [busy, idle]) {
      await each.until(isError);
      assert.is(each.received.find(isError)?.error?.message, 'The proxy is shutting down');
    }
    await busy.until(isEnd);
    await stopped;
    assert.is(t.upstream.requests.length, 1);
  }));

test('a reload changes the size limit of frames', () =>
  withProxy({ yaml: 'advanced: { max_request_size_bytes: 2000 }' }, async (t) => {
    const long = json(MESSAGE, { metadata: { user_id: 'x'.repeat(3000) } });
    const closed = await openTalk(t.proxy.wsPort);
    closed.socket.send(long);
    assert.is(((await once(closed.socket, 'close')) as [number])[0], 1009);
    t.configure('advanced: { max_request_size_bytes: 200000 }');
    await t.proxy.reload();
    const client = await openTalk(t.proxy.wsPort);
    assert.ok(isEnd((await client.answered(long)).at(-1)!));
    t.configure('advanced: { max_request_size_bytes: 2000 }');
    await t.proxy.reload();
    assert.is((await client.answered(long)).at(-1)?.error?.type, 'payload_too_large');
    client.socket.terminate();
  }));

test('the error for a frame names its JSON type', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    const cases: readonly (readonly [frame: string, got: string])[] = [
      ['null', 'null'],
      ['[]', 'array'],
      ['true', 'boolean'],
      ['"x"', 'string'],
      ['{"api_key":null}', 'null'],
      ['{"endpoint":[]}', 'array'],
    ];
    for (const [frame, got] of cases) {
      const [reported] = await client.answered(frame);
      assert.match(reported?.error?.message ?? '', new RegExp(`, got ${got}$`), frame);
    }
    client.socket.terminate();
  }));

const MEMBERS = `"model":"m","max_tokens" : 1,"messages":[{"role":"user","content":"\\u0068i 東"}]`;
const NUMBERS = `"metadata":{"id":12345678901234567890,"f":1.0,"e":1e30,"api_key":"inner"}`;

/** A message, and the body that the provider gets. */
const SPLICED: readonly (readonly [frame: string, sent: string])[] = [
  [`{${MEMBERS},${NUMBERS}}`, `{${MEMBERS},${NUMBERS}}`],
  [`{"api_key":"k",${MEMBERS},${NUMBERS}}`, `{${MEMBERS},${NUMBERS}}`],
  [`{${MEMBERS},"gzip":false,${NUMBERS}}`, `{${MEMBERS},${NUMBERS}}`],
  [`{${MEMBERS},${NUMBERS},"api_key":"k"}`, `{${MEMBERS},${NUMBERS}}`],
  [
    ` {\n  "gzip" : false ,\n  ${MEMBERS} ,\n  "api_key": "k",\n  "endpoint":"/v1/messages"\n} `,
    ` {\n  ${MEMBERS}\n} `,
  ],
  [`{"api_key":"first",${MEMBERS},"api\\u005fkey":"k"}`, `{${MEMBERS}}`],
  [`{"gzip":{"a":["}",{}]},${MEMBERS},"a":1,"a":2}`, `{${MEMBERS},"a":1,"a":2}`],
];

test('a frame is sent byte for byte, without the fields meant for us', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    for (const [frame, sent] of SPLICED) {
      assert.ok(isEnd((await client.answered(frame)).at(-1)!), frame);
      const request = t.upstream.requests.at(-1)!;
      assert.is(request.body.toString(), sent);
      assert.is(request.header('x-api-key'), /"k"/.test(frame) ? 'k' : 'messages-key');
    }
    client.socket.terminate();
  }));

const COSTLY = `providers:
  messages: { pricing: { input_cost_per_1m_tokens: 1000000, output_cost_per_1m_tokens: 0 } }
budget: { enabled: true, per_request_usd: 0.01 }
`;

test('client and svc headers of the upgrade apply to its frames', () =>
  withProxy({ yaml: COSTLY }, async (t) => {
    const client = await openTalk(t.proxy.wsPort, {
      'X-Svc-Allow-Spend': 'once',
      'x-svc-key': 'secret',
      'x-claude-code-session-id': 's-1',
      'session-id': 's-2',
      cookie: 'no',
    });
    assert.ok(isEnd((await client.answered(json(MESSAGE))).at(-1)!), 'allowed once');
    assert.is((await client.answered(json(MESSAGE))).at(-1)?.error?.type, 'spending_limit');
    const sent = t.upstream.requests[0]!;
    assert.equal(
      ['x-svc-key', 'x-svc-allow-spend', 'cookie'].map((name) => sent.header(name)),
      [undefined, undefined, undefined],
    );
    assert.is(sent.header('session-id'), 's-2');
    const rows = await t.rows(2);
    assert.equal(
      rows.map(({ sessionId, status }) => [sessionId, status]),
      [
        ['s-1', 200],
        ['s-1', 402],
      ],
    );
    client.socket.terminate();
  }));

test('the cache is used over WebSocket as over HTTP', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort, { 'x-svc-cache': 'on' });
    for (let n = 0; n < 2; n += 1) await client.answered(json(MESSAGE));
    assert.is(t.upstream.requests.length, 1);
    client.socket.terminate();
  }));

test.after(closeClients);
test.run();
