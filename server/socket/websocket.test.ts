/** `/ws` on both ports: the order of objects, gzip, errors, the queue, and disconnects. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import {
  CHAT,
  MESSAGE,
  TIMEOUT_MS,
  closeClients,
  exchange,
  json,
} from '../../fixtures/server/exchange.ts';
import { sendOne, isEnd, isError, openTalk } from '../../fixtures/server/websocket.ts';

test('a stream arrives as events, usage and end, on both ports', () =>
  withProxy({}, async (t) => {
    for (const [n, port] of [t.proxy.port, t.proxy.wsPort].entries()) {
      const client = await openTalk(port, {
        'anthropic-beta': 'future',
        'x-other': 'not for the provider',
      });
      client.ask(MESSAGE, { stream: true, api_key: 'mine' });
      const reported = await client.until(isEnd);
      const types = reported.map(({ type }) => type);
      assert.is(types[0], 'message_start');
      assert.equal(types.slice(-3), ['message_delta', 'stats', 'message_stop']);
      assert.is(types.filter((type) => type === 'message_stop').length, 1);
      const request = t.upstream.requests.at(-1)!;
      assert.equal(JSON.parse(request.body.toString()), { ...MESSAGE, stream: true });
      assert.is(request.header('x-api-key'), 'mine');
      assert.is(request.header('anthropic-beta'), 'future');
      assert.is(request.header('x-other'), undefined);
      assert.is(request.header('sec-websocket-key'), undefined);
      const row = (await t.rows(n + 1)).at(-1)!;
      const { usage } = reported.at(-2)!;
      assert.equal(usage, { input_tokens: row.inputTokensRaw, output_tokens: row.outputTokens });
      assert.is(row.outcome, 'ok');
      client.socket.terminate();
    }
  }));

test('a client that loses access in a reload gets no response on its open connection', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    client.ask(MESSAGE);
    await client.until(isEnd);
    t.configure('security: { require_api_key: true, api_key: svc_0123456789abcdef }');
    await t.proxy.reload();
    client.ask(MESSAGE);
    await client.until(isError);
    const { error } = client.received.at(-1)!;
    assert.equal([error?.type, error?.code], ['unauthorized', 'AUTH_001']);
    assert.is(t.upstream.requests.length, 1);
    const keyed = await openTalk(t.proxy.wsPort, { 'x-svc-key': 'svc_0123456789abcdef' });
    keyed.ask(MESSAGE);
    await keyed.until(isEnd);
    t.configure('security: { require_api_key: true, api_key: svc_another9abcdef01 }');
    await t.proxy.reload();
    keyed.ask(MESSAGE);
    await keyed.until(isError);
    assert.is((await t.rows(2)).length, 2);
    for (const { socket } of [client, keyed]) socket.terminate();
  }));

test('a frame refused by the gate does not count against the rate limit, as over HTTP', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 3 }' }, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    const key = 'svc_0123456789abcdef';
    t.configure(`security: { rate_limit_per_minute: 3, require_api_key: true, api_key: ${key} }`);
    await t.proxy.reload();
    for (let i = 0; i < 3; i += 1) client.ask(MESSAGE);
    await client.until(isError, 3);
    const codes = client.received.map(({ error }) => error?.code);
    assert.equal(new Set(codes), new Set(['AUTH_001']));
    const headers = { 'x-svc-key': key };
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE), headers })).status, 200);
    client.socket.terminate();
  }));

test('an empty key counts as none, as in a header, and the configured key is sent', () =>
  withProxy({ env: { MSGPROV_API_KEY: 'configured' } }, async (t) => {
    const client = await sendOne(t, MESSAGE, { api_key: '' });
    await client.until(isEnd);
    assert.is(t.upstream.requests[0]!.header('x-api-key'), 'configured');
    client.socket.terminate();
  }));

test('a response that is not streamed arrives as one object', () =>
  withProxy({}, async (t) => {
    const client = await sendOne(t, MESSAGE);
    const reported = await client.until(isEnd);
    assert.equal(
      reported.map(({ type }) => type),
      ['message', 'stats', 'message_stop'],
    );
    client.socket.terminate();
  }));

test('serves other endpoints, and sends binary frames if the client requests gzip', () =>
  withProxy({}, async (t) => {
    const client = await sendOne(t, CHAT, {
      stream: true,
      endpoint: '/v1/chat/completions',
      gzip: true,
    });
    const reported = await client.until(isEnd);
    assert.equal([...client.kinds], ['binary']);
    assert.ok(reported.some((each) => each['object'] === 'chat.completion.chunk'));
    assert.is(reported.at(-2)?.type, 'stats');
    assert.is(t.upstream.requests[0]?.path, '/v1/chat/completions');
    assert.not.match(t.upstream.requests[0]?.body.toString() ?? '', /gzip|endpoint/);
    client.socket.terminate();
  }));

type BadMessage = readonly [name: string, frame: string | Buffer, type: string, code?: string];

const BAD_MESSAGES: readonly BadMessage[] = [
  ['no JSON', 'hello', 'bad_request', 'VALIDATION_001'],
  ['empty', '', 'bad_request', 'VALIDATION_001'],
  ['an array', '[]', 'bad_request', 'VALIDATION_003'],
  ['a number', '7', 'bad_request', 'VALIDATION_003'],
  ['null', 'null', 'bad_request', 'VALIDATION_003'],
  ['deep', '['.repeat(100_000), 'bad_request', 'VALIDATION_001'],
  ['no model', '{"max_tokens":1,"messages":[{}]}', 'bad_request', 'VALIDATION_002'],
  ['a key that is a number', '{"api_key":7}', 'bad_request', 'VALIDATION_003'],
  ['an endpoint that is a number', '{"endpoint":7}', 'bad_request', 'VALIDATION_003'],
  ['an unknown endpoint', '{"endpoint":"/nope"}', 'not_found'],
  ['an endpoint that climbs', '{"endpoint":"/v1/../x"}', 'not_found'],
  ['another machine', '{"endpoint":"http://evil.example/v1/messages"}', 'not_found'],
  ['a key with a line break', json(MESSAGE, { api_key: 'a\r\nX-Evil: 1' }), 'bad_request'],
  ['a path with a space', json(MESSAGE, { endpoint: '/v1/messages?x= y' }), 'bad_request'],
  ['a path with a line break', json(MESSAGE, { endpoint: '/v1/messages?\r\nx: y' }), 'bad_request'],
  ['a path beyond ASCII', json(MESSAGE, { endpoint: '/v1/messages?x=東' }), 'bad_request'],
  ['a path in Latin', json(MESSAGE, { endpoint: '/v1/messages?x=é' }), 'bad_request'],
  ['a path with a NUL', json(MESSAGE, { endpoint: '/v1/messages?\0' }), 'bad_request'],
  ['a path without end', json(MESSAGE, { endpoint: `/v1/x${'x'.repeat(9000)}` }), 'bad_request'],
  ['a key without end', json(MESSAGE, { api_key: 'x'.repeat(9000) }), 'bad_request'],
  ['a binary frame', Buffer.from(json(MESSAGE)), 'bad_request'],
];

test('an invalid frame gets an error and the connection stays open', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    for (const [name, frame, type, code] of BAD_MESSAGES) {
      const before = client.received.length;
      client.socket.send(frame);
      await client.until(isError, before + 1);
      const { error } = client.received.at(-1)!;
      assert.is(error?.type, type, name);
      if (code !== undefined) assert.is(error?.code, code, name);
      assert.is(t.upstream.requests.length, 0, name);
    }
    client.ask(MESSAGE);
    await client.until(isEnd);
    const rows = await t.rows(BAD_MESSAGES.length + 1);
    assert.is(rows.length, BAD_MESSAGES.length + 1, 'one row per frame');
    client.socket.terminate();
  }));

test('a connection whose messages are all refused is closed with a reason', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    const closed = once(client.socket, 'close', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    for (let sent = 0; sent < 5000; sent += 1) client.socket.send('{}');
    const [code, reason] = (await closed) as [number, Buffer];
    assert.equal([code, reason.toString()], [1008, 'too many messages were refused']);
    assert.ok(client.received.length < 200, `${client.received.length} answers`);
    assert.ok((await t.rows(100)).length < 200);
  }));

test('a frame over the limit closes the connection', () =>
  withProxy({ yaml: 'advanced: { max_request_size_bytes: 10000 }' }, async (t) => {
    const client = await openTalk(t.proxy.wsPort);
    client.socket.send('x'.repeat(10_001));
    const [code] = (await once(client.socket, 'close')) as [number];
    assert.is(code, 1009);
    assert.is(t.upstream.requests.length, 0);
  }));

test('one request runs, one is queued, and a third is refused', () =>
  withProxy({}, async (t) => {
    const stop = t.upstream.script(undefined, 'slow-first-event', { delayMs: 100 });
    const client = await openTalk(t.proxy.wsPort);
    for (const name of ['first', 'second', 'third']) {
      client.ask(MESSAGE, { stream: true, metadata: { user_id: name } });
    }
    await client.until(isEnd, 2);
    stop();
    const errors = client.received.filter(isError);
    assert.is(errors.length, 1);
    assert.is(errors[0]?.error?.type, 'upstream_unreachable');
    const sent = t.upstream.requests.map(
      ({ body }) => /first|second|third/.exec(body.toString())?.[0],
    );
    assert.equal(sent, ['first', 'second']);
    const rows = await t.rows(3);
    assert.equal(rows.map((row) => row.outcome).toSorted(), ['error', 'ok', 'ok']);
    client.socket.terminate();
  }));

test('an error of the provider is an object with its message', () =>
  withProxy({}, async (t) => {
    for (const scenario of ['429', 'html-error', 'reset-before-head'] as const) {
      const stop = t.upstream.script(undefined, scenario);
      const client = await sendOne(t, MESSAGE, { stream: true, api_key: 'mine' });
      const [reported] = await client.until(isError);
      assert.type(reported?.error?.message, 'string', scenario);
      assert.is(client.received.filter(isEnd).length, 0, scenario);
      stop();
      client.socket.terminate();
    }
    const stop = t.upstream.script(undefined, 'close-mid-body', { atByte: 1700 });
    const broken = await sendOne(t, MESSAGE, { stream: true, api_key: 'mine' });
    await broken.until(isError);
    assert.ok(broken.received.length > 1, 'after some events');
    assert.not.ok(broken.received.some(isEnd));
    stop();
    const rows = await t.rows(4);
    assert.equal(
      rows.map((row) => row.outcome),
      ['error', 'error', 'error', 'partial'],
    );
    broken.socket.terminate();
  }));

test('a client that leaves also cancels its queued request', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'stall-before-head');
    const client = await sendOne(t, MESSAGE);
    client.ask(MESSAGE);
    await t.upstream.nextRequest();
    client.socket.close();
    const rows = await t.rows(2);
    assert.equal(
      rows.map((row) => row.outcome),
      ['cancelled', 'cancelled'],
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.is(t.upstream.requests.length, 1);
  }));

test('a reader that stalls pauses the upstream', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'flood', { bytes: 16_384 });
    const client = await openTalk(t.proxy.wsPort);
    client.socket.pause();
    client.ask(MESSAGE, { stream: true });
    const untilMs = Date.now() + TIMEOUT_MS;
    let last = -1;
    const bytesWritten = () => t.upstream.connections[0]?.bytesWritten ?? 0;
    while (bytesWritten() !== last || last === 0) {
      assert.ok(Date.now() < untilMs, 'more and more is taken from the upstream');
      last = bytesWritten();
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    client.socket.terminate();
    assert.is((await t.rows(1))[0]?.outcome, 'cancelled');
  }));

test.after(closeClients);
test.run();
