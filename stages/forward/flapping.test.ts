/** Sixteen connections while a provider comes and goes: nobody waits for ever, nobody is answered twice. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt } from '../../fixtures/random.ts';
import { request } from '../../fixtures/upstream.ts';
import { closeClients, exchange } from '../../server/testing.ts';
import { PATHS, bodyOf, expectComplete, ownKey, withPair, withSpare } from './testing.ts';
import type { Pair } from './testing.ts';

const CONNECTIONS = 16;
const REQUESTS = 40;
const SHORT = 'providers:\n  messages: { timeout_seconds: 0.3, idle_timeout_seconds: 0.3 }';

/** A provider that fails in many ways for a while, and then works for a while. */
function flap(t: Pair): void {
  const random = createRandom(7);
  let served = 0;
  t.upstream.script(
    undefined,
    request(async (x) => {
      served += 1;
      const isDown = Math.floor(served / 15) % 2 === 0;
      const { wire, headLength } = x.answer();
      if (!isDown) return x.write(wire);
      const fault = randomInt(random, 0, 4);
      if (fault === 0) return x.reset();
      if (fault === 1) await x.write(wire.subarray(0, randomInt(random, headLength, wire.length)));
      if (fault === 1) return x.reset();
      if (fault === 2) {
        return x.write(
          'HTTP/1.1 503 Down\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n',
        );
      }
      return x.wait(400);
    }),
  );
}

for (const spare of [undefined, 'messages', 'chat'] as const) {
  test(`a breaker that flaps, ${spare === undefined ? 'alone' : `with a spare of ${spare}`}`, () =>
    withPair({ yaml: withSpare(spare, SHORT) }, async (t) => {
      flap(t);
      const { states } = t.proxy.services;
      // Time would close the breaker after 30 s; here an operator does, again and again.
      let opened = 0;
      const timer = setInterval(() => {
        if (!states.get('messages')!.breaker.isOpen()) return;
        opened += 1;
        states.forceHealth('messages', 'healthy');
      }, 40);
      let slowestMs = 0;
      const lane = async (): Promise<void> => {
        for (let n = 0; n < REQUESTS; n += 1) {
          const startedMs = performance.now();
          const got = await exchange(t.proxy.port, {
            path: PATHS.messages,
            body: bodyOf('messages', n % 2 === 0),
            headers: ownKey('messages'),
          });
          slowestMs = Math.max(slowestMs, performance.now() - startedMs);
          expectOnce(got.text, n % 2 === 0, got.status);
        }
      };
      try {
        await Promise.all(Array.from({ length: CONNECTIONS }, lane));
      } finally {
        clearInterval(timer);
      }
      assert.ok(opened > 0, 'the breaker opened');
      assert.ok(slowestMs < 5_000, `the slowest took ${slowestMs} ms`);
      const rows = await t.rows(CONNECTIONS * REQUESTS);
      assert.is(rows.length, CONNECTIONS * REQUESTS);
      assert.is(new Set(rows.map((row) => row.id)).size, rows.length);
      if (spare !== undefined) {
        assert.ok(
          rows.every((row) => row.outcome === 'ok' || row.outcome === 'partial'),
          'somebody always answers',
        );
      }
      assert.is(t.proxy.app.running.size, 0);
    }));
}

/** One beginning at most, and an end or an error, but not both. */
function expectOnce(text: string, stream: boolean, status: number): void {
  if (!stream || status !== 200) return;
  assert.ok(text.split('event: message_start\n').length <= 2, 'begun once');
  if (!text.includes('event: error')) return expectComplete('messages', text, 'stream');
  assert.not.match(text, 'event: message_stop');
}

test.after(closeClients);
test.run();
