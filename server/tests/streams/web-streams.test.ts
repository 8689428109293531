/** Live responses in the running program are web streams: pipes are counted for each sink. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pipedDuring } from '../../../fixtures/engine/piped.ts';
import type { Piped } from '../../../fixtures/engine/piped.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { sendOne, isEnd } from '../../../fixtures/server/websocket.ts';

const BODY = json(MESSAGE, { stream: true });
const HEADERS = { 'x-api-key': 'mine' };

/** One response to each kind of client, by name. */
const SINKS: Readonly<Record<string, (t: TestProxy) => Promise<unknown>>> = {
  async events(t) {
    const { text } = await exchange(t.proxy.port, { body: BODY, headers: HEADERS });
    assert.match(text, /message_stop/);
  },
  async lines(t) {
    const headers = { ...HEADERS, accept: 'application/x-ndjson' };
    const response = await exchange(t.proxy.port, { body: BODY, headers });
    assert.is(response.headers['content-type'], 'application/x-ndjson');
    assert.is(response.headers['transfer-encoding'], 'chunked');
  },
  async WebSocket(t) {
    const talk = await sendOne(t, MESSAGE, { stream: true });
    await talk.until(isEnd);
    talk.socket.terminate();
  },
};

async function pipedBy(yaml: string): Promise<{ readonly [sink: string]: Piped }> {
  const piped: { [sink: string]: Piped } = {};
  await withProxy({ yaml }, async (t) => {
    t.upstream.script(undefined, 'events', { count: 20, everyMs: 1 });
    for (const [name, ask] of Object.entries(SINKS)) piped[name] = await pipedDuring(() => ask(t));
  });
  return piped;
}

test('a response passes one TransformStream of all stages with handlers, and one pipe to its sink', async () => {
  const once = { transforms: 1, others: 0, pipes: 1 };
  assert.equal(await pipedBy(''), { events: once, lines: once, WebSocket: once });
});

test('a response in another dialect passes a second TransformStream, which translates', async () => {
  const twice = { transforms: 2, others: 0, pipes: 1 };
  const piped = await pipedBy('provider: chat\n');
  assert.equal(piped, { events: twice, lines: twice, WebSocket: twice });
});

test('a response that is complete in memory is not piped', async () => {
  await withProxy({}, async (t) => {
    const piped = await pipedDuring(async () => {
      const { status } = await exchange(t.proxy.port, { body: json(MESSAGE), headers: HEADERS });
      assert.is(status, 200);
    });
    assert.equal(piped, { transforms: 0, others: 0, pipes: 0 });
  });
});

test.after(closeClients);
test.run();
