/**
 * The response cache over the wire: what is cached, for whom and for how long, and what never is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import {
  CHAT,
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
} from '../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../fixtures/server/exchange.ts';
import { pause, until } from '../../fixtures/wait.ts';

const ON = 'cache: { enabled: true }';
const DETERMINISTIC = json(MESSAGE, { temperature: 0 });
const DETERMINISTIC_STREAM = json(MESSAGE, { temperature: 0, stream: true });
const MINE = { 'x-api-key': 'mine' };

type Fields = Readonly<Record<string, string>>;

const send = (t: TestProxy, body: string, headers: Fields = MINE, path = '/v1/messages') =>
  exchange(t.proxy.port, { path, body, headers });

const isHit = (response: FullResponse): boolean => response.headers['x-svc-cache'] === 'hit';

test('an identical request is answered without the provider at no cost', () =>
  withProxy({ yaml: ON }, async (t) => {
    const first = await send(t, DETERMINISTIC);
    const again = await send(t, DETERMINISTIC);
    assert.not.ok(isHit(first));
    assert.ok(isHit(again));
    assert.ok(again.body.equals(first.body));
    assert.is(again.headers['content-type'], first.headers['content-type']);
    assert.is(t.upstream.requests.length, 1);
    const rows = await t.rows(2);
    assert.equal(
      rows.map((row) => [row.outcome, row.cacheHit, row.attempts]),
      [
        ['ok', false, 1],
        ['ok', true, 0],
      ],
    );
    assert.is(rows[1]?.costNanoUsd, 0);
    assert.is(rows[1]?.inputTokensSent, 0);
  }));

test("a gateway's credential in a header of its own is part of the cache key", () =>
  withProxy({ yaml: ON }, async (t) => {
    for (const fields of [MINE, {}]) {
      await send(t, DETERMINISTIC, { ...fields, 'helicone-auth': 'Bearer one' });
      assert.not.ok(
        isHit(await send(t, DETERMINISTIC, { ...fields, 'helicone-auth': 'Bearer two' })),
      );
      assert.not.ok(isHit(await send(t, DETERMINISTIC, fields)));
      const again = { ...fields, 'Helicone-Auth': 'Bearer two', 'idempotency-key': 'a' };
      assert.ok(isHit(await send(t, DETERMINISTIC, again)));
    }
  }));

test('a cached stream is streamed again, byte for byte', () =>
  withProxy({ yaml: ON }, async (t) => {
    const first = await send(t, DETERMINISTIC_STREAM);
    const again = await send(t, DETERMINISTIC_STREAM);
    assert.ok(isHit(again));
    assert.match(again.headers['content-type'] ?? '', 'text/event-stream');
    assert.is(again.headers['content-length'], undefined);
    assert.ok(again.body.equals(first.body));
    assert.equal(
      (await t.rows(2)).map((row) => [row.outcome, row.stream]),
      [
        ['ok', true],
        ['ok', true],
      ],
    );
    const chat = json(CHAT, { temperature: 0, stream: true });
    const path = '/v1/chat/completions';
    const texts = await send(t, chat, { authorization: 'Bearer mine' }, path);
    const kept = await send(t, chat, { authorization: 'Bearer mine' }, path);
    assert.ok(isHit(kept) && kept.body.equals(texts.body));
  }));

test('a hit saves the usage that the provider reported, even if the client did not get it', () =>
  withProxy({ yaml: ON }, async (t) => {
    const chat = json(CHAT, { temperature: 0, stream: true });
    const path = '/v1/chat/completions';
    for (let i = 0; i < 2; i += 1) await send(t, chat, { authorization: 'Bearer mine' }, path);
    const [first, again] = await t.rows(2);
    assert.ok((first?.outputTokens ?? 0) > 0);
    assert.equal([again?.cacheHit, again?.outputTokens], [true, first?.outputTokens]);
  }));

test('only a request that asks for determinism or for caching is cached', () =>
  withProxy({ yaml: ON }, async (t) => {
    const warm = json(MESSAGE);
    for (const [body, headers, hits] of [
      [warm, MINE, false],
      [warm, { ...MINE, 'x-svc-cache': 'on' }, true],
      [DETERMINISTIC, { ...MINE, 'x-svc-cache': 'off' }, false],
      [DETERMINISTIC, { ...MINE, 'x-svc-bypass': '1' }, false],
      [DETERMINISTIC, { authorization: 'Bearer sk-ant-oat01-mine' }, false],
    ] as const) {
      await send(t, body, headers);
      assert.is(isHit(await send(t, body, headers)), hits, JSON.stringify(headers));
    }
    const count = '/v1/messages/count_tokens';
    await send(t, DETERMINISTIC, MINE, count);
    assert.not.ok(isHit(await send(t, DETERMINISTIC, MINE, count)));
  }));

test('nothing is cached while the cache is off', () =>
  withProxy({ yaml: 'cache: { enabled: false }' }, async (t) => {
    await send(t, DETERMINISTIC, { ...MINE, 'x-svc-cache': 'on' });
    assert.not.ok(isHit(await send(t, DETERMINISTIC, { ...MINE, 'x-svc-cache': 'on' })));
  }));

test('a cached response is not served to another owner or for another request', () =>
  withProxy({ yaml: ON }, async (t) => {
    await send(t, DETERMINISTIC);
    const others: [string, Fields, string?][] = [
      [DETERMINISTIC, { 'x-api-key': 'yours' }],
      [DETERMINISTIC, { authorization: 'Bearer mine' }],
      [DETERMINISTIC, {}],
      [json(MESSAGE, { temperature: 0, max_tokens: 11 }), MINE],
      [DETERMINISTIC, { ...MINE, 'anthropic-beta': 'something-2026' }],
      [DETERMINISTIC, MINE, '/v1/messages?beta=true'],
    ];
    for (const [body, headers, path] of others) {
      assert.not.ok(isHit(await send(t, body, headers, path)), JSON.stringify([headers, path]));
    }
    assert.is(t.upstream.requests.length, 1 + others.length);
  }));

test('a response that failed or broke off is not cached', () =>
  withProxy({ yaml: ON }, async (t) => {
    for (const fault of ['400', '500', 'reset-mid-body', 'error-event', 'no-terminator'] as const) {
      for (const body of fault === 'error-event'
        ? [DETERMINISTIC_STREAM]
        : [DETERMINISTIC, DETERMINISTIC_STREAM]) {
        if (fault === 'no-terminator' && body === DETERMINISTIC) continue;
        const stop = t.upstream.script(undefined, fault, { atByte: 60 });
        const bad = await send(t, body);
        stop();
        const good = await send(t, body);
        assert.not.ok(isHit(bad) || isHit(good), fault);
        assert.is(good.status, 200, fault);
        await t.proxy.services.answers.store.clear();
      }
    }
  }));

test('an answer by a fallback is not cached under the first provider', () =>
  withProxy({ yaml: `${ON}\nfallback: [chat]` }, async (t) => {
    const stop = t.upstream.script(/^\/v1\/messages/, '500');
    assert.is((await send(t, DETERMINISTIC)).status, 200);
    stop();
    assert.not.ok(isHit(await send(t, DETERMINISTIC)));
    assert.ok(isHit(await send(t, DETERMINISTIC)));
  }));

test('identical concurrent requests share one answer', () =>
  withProxy({ yaml: ON }, async (t) => {
    for (const body of [DETERMINISTIC, DETERMINISTIC_STREAM]) {
      const before = t.upstream.requests.length;
      const stop = t.upstream.script(undefined, 'slow-head', { delayMs: 100 });
      const responses = await Promise.all(Array.from({ length: 8 }, () => send(t, body)));
      stop();
      assert.is(t.upstream.requests.length - before, 1);
      assert.is(responses.filter(isHit).length, 7);
      for (const each of responses) assert.ok(each.body.equals(responses[0]!.body));
    }
    assert.is((await t.rows(16)).filter((row) => row.cacheHit).length, 14);
  }));

test('a request continues on its own if the one it waited for fails or is cancelled', () =>
  withProxy({ yaml: ON }, async (t) => {
    const stop = t.upstream.script(undefined, '500', { delayMs: 50 });
    const failed = await Promise.all([
      send(t, DETERMINISTIC),
      send(t, DETERMINISTIC),
      send(t, DETERMINISTIC),
    ]);
    assert.equal(new Set(failed.map((each) => each.status)), new Set([500]));
    stop();
    t.proxy.services.states.forceHealth('messages', 'healthy');
    const hang = t.upstream.script(undefined, 'stall-before-head', {});
    const canceller = new AbortController();
    const reached = t.upstream.nextRequest();
    const leader = openResponse(t.proxy.port, {
      body: DETERMINISTIC,
      headers: MINE,
      signal: canceller.signal,
    }).catch(() => undefined);
    await reached;
    hang();
    const follower = send(t, DETERMINISTIC);
    canceller.abort();
    await leader;
    assert.is((await follower).status, 200);
    assert.is(t.proxy.services.answers.flights.size, 0);
  }));

test('when the first of identical requests is cancelled, another one is sent and all get its answer', () =>
  withProxy({ yaml: 'cache: { enabled: true }' }, async (t) => {
    const hang = t.upstream.script(undefined, 'stall-before-head', {});
    const canceller = new AbortController();
    const reached = t.upstream.nextRequest();
    const sent = { body: DETERMINISTIC, headers: MINE, signal: canceller.signal };
    const leader = openResponse(t.proxy.port, sent).catch(() => undefined);
    await reached;
    const followers = [0, 1, 2].map(() => send(t, DETERMINISTIC));
    await until('three more requests', () => t.proxy.app.running.size === 4);
    await pause(100);
    hang();
    canceller.abort();
    await leader;
    const responses = await Promise.all(followers);
    assert.is(responses.filter(isHit).length, 2);
    assert.is(t.upstream.requests.length, 2);
    assert.ok(isHit(await send(t, DETERMINISTIC)));
  }));

test('requests that continue alone after a failure cache their answers', () =>
  withProxy(
    { yaml: 'cache: { enabled: true }\nproviders: { messages: { timeout_seconds: 0.3 } }' },
    async (t) => {
      const hang = t.upstream.script(undefined, 'stall-before-head', {});
      const reached = t.upstream.nextRequest();
      const leader = send(t, DETERMINISTIC);
      await reached;
      hang();
      const follower = send(t, DETERMINISTIC);
      assert.is((await leader).status, 504);
      assert.is((await follower).status, 200);
      assert.ok(isHit(await send(t, DETERMINISTIC)));
    },
  ));

test('an answer is served only until it expires', () => {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  return withProxy({ yaml: 'cache: { enabled: true, ttl_seconds: 600 }', clock }, async (t) => {
    await send(t, DETERMINISTIC);
    assert.ok(isHit(await send(t, DETERMINISTIC)));
    aheadMs = 600_000;
    assert.not.ok(isHit(await send(t, DETERMINISTIC)));
  });
});

test('answers on disk survive a restart', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-answers-'));
  const options = { yaml: 'cache: { enabled: true, type: disk }', env: { SVC_HOME: home } };
  const bodies: Buffer[] = [];
  // The provider is part of the cache key, so both proxies must use the same one.
  await withProxy(options, async (first) => {
    bodies.push((await send(first, DETERMINISTIC_STREAM)).body);
    await first.proxy.services.answers.store.settled();
    const env = { ...options.env, MSGPROV_BASE_URL: first.upstream.url };
    await first.proxy.stop(true);
    await withProxy({ ...options, env }, async (second) => {
      const response = await send(second, DETERMINISTIC_STREAM);
      assert.ok(isHit(response));
      assert.ok(response.body.equals(bodies[0]!));
      assert.is(first.upstream.requests.length, 1);
    });
  });
  rmSync(home, { recursive: true, force: true });
});

test.after(closeClients);
test.run();
