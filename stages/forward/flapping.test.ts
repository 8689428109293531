/** Sixteen connections to a flapping provider: no request hangs, and none is answered twice. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt } from '../../fixtures/random.ts';
import { request } from '../../fixtures/upstream.ts';
import { createKeepAliveClient } from '../../fixtures/forward/keep-alive-client.ts';
import type { RawAnswer } from '../../fixtures/forward/keep-alive-client.ts';
import {
  PATHS,
  bodyOf,
  expectComplete,
  clientKey,
  payloads,
  withPair,
  withSpare,
} from '../../fixtures/forward/pair.ts';
import type { Pair, PairDialect } from '../../fixtures/forward/pair.ts';

const CONNECTIONS = 16;
const REQUESTS = 24;
const LIMITS = '{ timeout_seconds: 0.3, idle_timeout_seconds: 0.3 }';
const SHORT = `providers:\n  messages: ${LIMITS}\n  chat: ${LIMITS}`;
/** Longer than any response still under way may take. */
const SILENCE_MS = 500;

/** Makes the provider fail in various ways for a while, then work for a while, alternately. */
function scriptFlapping(t: Pair): void {
  const random = createRandom(7);
  let served = 0;
  t.upstream.script(
    undefined,
    request(async (connection) => {
      served += 1;
      const isDown = Math.floor(served / 15) % 2 === 0;
      const { wire, headLength } = connection.answer();
      if (!isDown) return connection.write(wire);
      const fault = randomInt(random, 0, 4);
      if (fault === 0) return connection.reset();
      if (fault === 1)
        await connection.write(wire.subarray(0, randomInt(random, headLength, wire.length)));
      if (fault === 1) return connection.reset();
      if (fault === 2) {
        return connection.write(
          'HTTP/1.1 503 Down\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n',
        );
      }
      return connection.wait(400);
    }),
  );
}

interface Flapping {
  readonly t: Pair;
  readonly dialect: PairDialect;
  readonly spare: PairDialect | undefined;
}

/** Sends requests repeatedly on one connection. */
async function sendOnOneConnection({ t, dialect, spare }: Flapping): Promise<void> {
  const client = createKeepAliveClient(t.proxy.port);
  try {
    for (let n = 0; n < REQUESTS; n += 1) {
      const stream = n % 2 === 0;
      const response = await client.ask(
        PATHS[dialect],
        bodyOf(dialect, stream),
        clientKey(dialect),
      );
      if (spare !== undefined) assert.is(response.status, 200, 'another provider always responds');
      if (stream && response.status === 200) expectStreamOnce(dialect, response.text);
      else expectDocument(dialect, response);
    }
    await client.expectSilence(SILENCE_MS);
    assert.ok(client.opened < REQUESTS, 'connections are kept');
  } finally {
    client.close();
  }
}

async function runAllConnections(flapping: Flapping): Promise<void> {
  const { t, dialect, spare } = flapping;
  scriptFlapping(t);
  const { states } = t.proxy.services;
  // The breaker would close after 30 s; here an operator closes it repeatedly.
  let opened = 0;
  const timer = setInterval(() => {
    if (!states.get(dialect)!.breaker.isOpen()) return;
    opened += 1;
    states.forceHealth(dialect, 'healthy');
  }, 40);
  try {
    const lanes = Array.from({ length: CONNECTIONS }, () => sendOnOneConnection(flapping));
    await Promise.all(lanes);
  } finally {
    clearInterval(timer);
  }
  assert.ok(opened > 0, 'the breaker opened');
  const rows = await t.rows(CONNECTIONS * REQUESTS);
  assert.is(rows.length, CONNECTIONS * REQUESTS);
  assert.is(new Set(rows.map((row) => row.id)).size, rows.length);
  if (spare !== undefined) {
    assert.ok(rows.every((row) => row.outcome === 'ok' || row.outcome === 'partial'));
  }
  assert.is(t.proxy.app.running.size, 0);
}

for (const dialect of ['messages', 'chat'] as const) {
  for (const spare of [undefined, 'messages', 'chat'] as const) {
    const beside = spare === undefined ? 'alone' : `with a spare of ${spare}`;
    test(`a flapping ${dialect} provider, ${beside}`, () =>
      withPair({ yaml: withSpare(spare, SHORT) }, (t) => runAllConnections({ t, dialect, spare })));
  }
}

/** Checks for at most one start, and either an end or an error with nothing after it. */
function expectStreamOnce(dialect: PairDialect, text: string): void {
  const events = text.split('\n\n');
  assert.is(events.pop(), '', 'the last event is whole');
  for (const event of events) {
    const [, data] = /^(?:event: \w+\n)?data: (.*)$/.exec(event) ?? [];
    assert.ok(data !== undefined || event.startsWith(': '), `an event or a comment: ${event}`);
    if (data !== undefined && data !== '[DONE]') JSON.parse(data);
  }
  const errors = payloads(text).filter((payload) => 'error' in payload);
  if (errors.length === 0) return expectComplete(dialect, text, 'stream');
  assert.is(errors.length, 1, 'one error');
  assert.match(events.at(-1) ?? '', '"error":', 'the error is the last line');
  assert.not.match(text, /event: message_stop|\[DONE\]/);
  const starts = dialect === 'messages' ? /event: message_start\n/g : /"role":"assistant"/g;
  assert.ok((text.match(starts) ?? []).length <= 1, 'begun once');
}

/**
 * Checks for one JSON document, a response or an error; the fake provider's own 503 has no body.
 */
function expectDocument(dialect: PairDialect, { status, text }: RawAnswer): void {
  if (status === 503 && text === '') return;
  const document = JSON.parse(text) as { type?: string; object?: string; error?: object };
  if (status !== 200) return assert.type(document.error, 'object', text);
  const kind = dialect === 'messages' ? document.type : document.object;
  assert.is(kind, dialect === 'messages' ? 'message' : 'chat.completion', text);
}

test.run();
