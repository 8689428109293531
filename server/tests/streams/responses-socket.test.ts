/** Conversations over the WebSocket of `/v1/responses`, as Codex has them, in forward mode. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { HOSTS, sharedForwardMode } from '../../../fixtures/forward-mode.ts';
import type { ForwardMode } from '../../../fixtures/forward-mode.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const forwardMode = sharedForwardMode(test);
const OPENAI = HOSTS[1];
const TIMEOUT_MS = 60_000;
type ServerEvent = Record<string, unknown> & { readonly type: string };
const LAST = new Set(['response.completed', 'response.failed', 'error']);

/** Opens a WebSocket to the provider's own address through the proxy. */
async function converse(t: ForwardMode, headers: Record<string, string> = {}) {
  const tls = await t.open(OPENAI);
  const socket = new WebSocket(`wss://${OPENAI}/v1/responses`, {
    createConnection: () => tls,
    headers: {
      authorization: 'Bearer sk-mine',
      'openai-beta': 'responses_websockets=2026-02-06, other=1',
      ...headers,
    },
  });
  const events: ServerEvent[] = [];
  socket.on('message', (data: Buffer) => {
    events.push(JSON.parse(data.toString()) as ServerEvent);
    socket.emit('told');
  });
  await once(socket, 'open', { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return {
    socket,
    /** Sends a message; returns what arrives up to the end of its response. */
    async say(message: object | string): Promise<ServerEvent[]> {
      const from = events.length;
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
      while (!events.slice(from).some(({ type }) => LAST.has(type)))
        await once(socket, 'told', { signal: AbortSignal.timeout(TIMEOUT_MS) });
      return events.slice(from);
    },
  };
}

const idOf = (events: readonly ServerEvent[]): unknown =>
  (events.at(-1)?.['response'] as ServerEvent)?.['id'];
const outputOf = (events: readonly ServerEvent[]): unknown[] =>
  events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
const sentBody = (t: ForwardMode) =>
  JSON.parse(t.upstream.requests.at(-1)!.body.toString()) as Record<string, unknown>;

const create = (more: object) => ({
  type: 'response.create',
  model: 'gpt-fixture-1',
  instructions: 'Be brief.',
  store: false,
  ...more,
});
const user = (text: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

test('each message is a POST through the graph, and its events are the response', () =>
  forwardMode(async (t) => {
    const conversation = await converse(t);
    const events = await conversation.say(create({ input: [user('hello')] }));
    assert.is(events[0]?.type, 'response.created');
    assert.is(events.at(-1)?.type, 'response.completed');
    const sent = t.upstream.requests.at(-1)!;
    assert.equal([sent.method, sent.target], ['POST', '/v1/responses']);
    assert.is(sent.header('host'), OPENAI);
    assert.is(sent.header('authorization'), 'Bearer sk-mine');
    assert.is(sent.header('openai-beta'), 'other=1');
    assert.is(sent.header('upgrade'), undefined);
    assert.is(sent.header('sec-websocket-key'), undefined);
    const { stream, type, input, model, store } = sentBody(t);
    assert.equal(
      { stream, type, input, model, store },
      {
        stream: true,
        type: undefined,
        input: [user('hello')],
        model: 'gpt-fixture-1',
        store: false,
      },
    );
    // The result of the same POST over HTTP.
    const posted = await exchange(t.port, {
      path: '/v1/responses',
      body: sent.body,
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-mine' },
    });
    const types = [...posted.text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    assert.equal(
      events.map(({ type: name }) => name),
      types,
    );
    const stats = await exchange(t.port, { path: '/stats', method: 'GET' });
    assert.is((JSON.parse(stats.text) as { today: { requests: number } }).today.requests, 2);
    conversation.socket.terminate();
  }));

test('new input is sent after the history of the connection, with the same bytes in front', () =>
  forwardMode(async (t) => {
    const conversation = await converse(t);
    const ready = await conversation.say(create({ generate: false, input: [user('rules')] }));
    assert.equal(
      ready.map(({ type }) => type),
      ['response.created', 'response.completed'],
    );
    assert.is(t.upstream.requests.length, 0, 'a warm-up request reaches no provider');
    const first = await conversation.say(
      create({ previous_response_id: idOf(ready), input: [user('first')] }),
    );
    assert.equal(sentBody(t)['input'], [user('rules'), user('first')]);
    assert.is(sentBody(t)['previous_response_id'], undefined);
    const before = t.upstream.requests.at(-1)!.body.toString();
    await conversation.say(create({ previous_response_id: idOf(first), input: 'second' }));
    assert.equal(sentBody(t)['input'], [
      user('rules'),
      user('first'),
      ...outputOf(first),
      { role: 'user', content: 'second' },
    ]);
    const after = t.upstream.requests.at(-1)!.body.toString();
    const upTo = before.indexOf(']', before.indexOf('"first"'));
    assert.is(after.slice(0, upTo), before.slice(0, upTo));
    // A client that sends the whole conversation starts a new one.
    await conversation.say(create({ input: [user('anew')] }));
    assert.equal(sentBody(t)['input'], [user('anew')]);
    conversation.socket.terminate();
  }));

test('history that the provider stores, or that is unknown here, is left to the provider', () =>
  forwardMode(async (t) => {
    const conversation = await converse(t);
    const stored = await conversation.say(create({ store: true, input: [user('a')] }));
    await conversation.say(
      create({ store: true, previous_response_id: idOf(stored), input: [user('b')] }),
    );
    assert.equal(sentBody(t)['input'], [user('b')]);
    assert.is(sentBody(t)['previous_response_id'], idOf(stored));
    await conversation.say(create({ previous_response_id: 'resp_unknown', input: [user('c')] }));
    assert.is(sentBody(t)['previous_response_id'], 'resp_unknown');
    conversation.socket.terminate();
  }));

test("errors have the provider's form with the status, and the connection continues", () =>
  forwardMode(async (t) => {
    const conversation = await converse(t);
    const unscript = t.upstream.script(undefined, '400');
    const [refused] = await conversation.say(create({ input: [user('x')] }));
    assert.is(refused?.type, 'error');
    assert.is(refused?.['status'], 400);
    assert.type((refused?.['error'] as ServerEvent | undefined)?.['message'], 'string');
    unscript();
    for (const bad of [
      '{',
      '[]',
      '{"type":"response.steer"}',
      JSON.stringify(create({ stream_id: 'a' })),
    ]) {
      const [told] = await conversation.say(bad);
      assert.equal([told?.type, told?.['status']], ['error', 400], bad);
    }
    assert.is(
      (await conversation.say(create({ input: [user('y')] }))).at(-1)?.type,
      'response.completed',
    );
    conversation.socket.terminate();
  }));

test('a long result is compressed, and a client that leaves cancels the request', () =>
  forwardMode(async (t) => {
    const conversation = await converse(t);
    const text = Array.from({ length: 900 }, (_, n) => `ok ${n} - fetches page ${n % 7}`).join(
      '\n',
    );
    const call = { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c1', output: text };
    const input = [user('run the tests'), call, output];
    await conversation.say(create({ input }));
    assert.ok(t.upstream.requests.at(-1)!.body.length < JSON.stringify(input).length);
    t.upstream.script(undefined, 'stall-mid-body');
    const arrived = t.upstream.nextRequest();
    conversation.socket.send(JSON.stringify(create({ input: [user('long')] })));
    await arrived;
    const closed = t.upstream.nextClose();
    conversation.socket.terminate();
    await closed;
  }));

test('a page of another site cannot open a socket', () =>
  forwardMode(async (t) => {
    const tls = await t.open(OPENAI);
    const foreign = new WebSocket(`wss://${OPENAI}/v1/responses`, {
      createConnection: () => tls,
      headers: { origin: 'https://evil.example' },
    });
    const [error] = (await once(foreign, 'error')) as [Error];
    assert.match(error.message, '403');
    assert.is(t.upstream.requests.length, 0);
  }));

test.after(closeClients);
test.run();
