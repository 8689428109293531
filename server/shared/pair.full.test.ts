/** Two proxies with one provider share their state through a real Redis. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../fixtures/server/exchange.ts';
import { until, withSteadyPair } from '../../fixtures/server/redis.ts';

type Fields = Readonly<Record<string, string>>;

const send = (t: TestProxy, body = json(MESSAGE), headers: Fields = {}): Promise<FullResponse> =>
  exchange(t.proxy.port, { body, headers });

const COLD = json(MESSAGE, { temperature: 0 });
const COLD_STREAM = json(MESSAGE, { temperature: 0, stream: true });
const isHit = ({ headers }: FullResponse): boolean => headers['x-svc-cache'] === 'hit';

test('two proxies share a limit of ten a minute, and refuse like a single one', () =>
  withSteadyPair({ yaml: 'security: { rate_limit_per_minute: 10 }' }, async (one, other) => {
    const answers: FullResponse[] = [];
    const startedMs = Date.now();
    for (let i = 0; i < 10; i += 1) answers.push(await send(i % 2 === 0 ? one : other));
    assert.equal(new Set(answers.map(({ status }) => status)), new Set([200]));
    for (const t of [one, other]) {
      const refused = await send(t);
      assert.is(refused.status, 429);
      const field = (name: string) => refused.headers[`x-ratelimit-${name}`];
      assert.equal([field('limit'), field('remaining')], ['10', '0']);
      // One request is due six seconds after the first.
      const waitS = Number(refused.headers['retry-after']);
      const pastS = (Date.now() - startedMs) / 1000;
      assert.ok(waitS <= 6 && waitS >= 6 - pastS, `${waitS} after ${pastS}`);
      const reset = Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000;
      assert.ok(reset > 50 && reset < 62, String(reset));
    }
    assert.is(other.upstream.requests.length, 10);
  }));

test('two proxies never admit more than the limit at the same moment', () =>
  withSteadyPair({ yaml: 'security: { rate_limit_per_minute: 25 }' }, async (one, other) => {
    const sent = Array.from({ length: 60 }, (_, i) => send(i % 2 === 0 ? one : other));
    const startedMs = Date.now();
    const allowed = (await Promise.all(sent)).filter(({ status }) => status === 200);
    const due = Math.floor((Date.now() - startedMs) / 2400);
    assert.ok(allowed.length >= 25 && allowed.length <= 26 + due, String(allowed.length));
  }));

const KEYS = { MSGPROV_API_KEY: 'first-key', MSGPROV_OAUTH_TOKEN: 'second-key' };

test('a key that one proxy saw rate-limited is not used by the other either', () =>
  withSteadyPair({ env: KEYS }, async (one, other) => {
    const { upstream } = other;
    const stop = upstream.script(undefined, '429', { times: 1 });
    assert.is((await send(one)).status, 200);
    stop();
    const first = () => other.proxy.services.states.get('messages')!.keys.view()[0]!;
    await until('the key cools down in the other', () => first().state === 'limited');
    assert.ok(first().waitMs > 0);
    const before = upstream.requests.length;
    assert.is((await send(other)).status, 200);
    assert.equal(
      upstream.requests.slice(before).map((request) => request.header('authorization')),
      ['Bearer second-key'],
    );
    one.proxy.services.states.forceHealth('messages', 'healthy');
    await until('it may be used again', () => first().state === 'usable');
  }));

const breakerOf = (t: TestProxy) => t.proxy.services.states.get('messages')!.breaker;

test('a breaker opened by one proxy is open in the other, and an operator closes it for both', () =>
  withSteadyPair({}, async (one, other) => {
    const stop = other.upstream.script(undefined, '500');
    for (let i = 0; i < 5; i += 1) await send(one);
    await until('it is open in the other', () => breakerOf(other).view().state === 'open');
    const before = other.upstream.requests.length;
    const refused = await send(other);
    assert.is(refused.status, 503);
    assert.ok(Number(refused.headers['retry-after']) >= 25);
    assert.is(other.upstream.requests.length, before);
    stop();
    other.proxy.services.states.forceHealth('messages', 'healthy');
    await until('it is closed in the one', () => breakerOf(one).view().state === 'closed');
    assert.is((await send(one)).status, 200);
  }));

test('after thirty seconds only one of two proxies probes, and its result counts for both', () =>
  withSteadyPair({}, async (one, other) => {
    const { upstream } = other;
    const fail = upstream.script(undefined, '500');
    for (let i = 0; i < 5; i += 1) await send(one);
    fail();
    const pair = [one, other];
    await until('both know', () => pair.every((t) => breakerOf(t).view().state === 'open'));
    const probesOf = async (scenario: '500' | 'slow-head') => {
      await new Promise((resolve) => setTimeout(resolve, 30_200));
      const before = upstream.requests.length;
      const stop = upstream.script(undefined, scenario, { delayMs: 300 });
      const responses = await Promise.all([...pair, ...pair, ...pair].map((t) => send(t)));
      stop();
      const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
      return { probes: upstream.requests.length - before, statuses };
    };
    assert.equal(await probesOf('500'), { probes: 1, statuses: [500, 503, 503, 503, 503, 503] });
    await until('both know', () => pair.every((t) => breakerOf(t).view().state === 'open'));
    assert.equal(await probesOf('slow-head'), {
      probes: 1,
      statuses: [200, 503, 503, 503, 503, 503],
    });
    await until('closed in both', () => pair.every((t) => breakerOf(t).view().state === 'closed'));
    for (const t of pair) assert.is((await send(t)).status, 200);
  }));

test('a response cached by one proxy is served by the other, byte for byte', () =>
  withSteadyPair({ yaml: 'cache: { enabled: true }' }, async (one, other, redis) => {
    for (const body of [COLD, COLD_STREAM]) {
      const first = await send(one, body);
      await one.proxy.services.answers.store.settled();
      const again = await send(other, body);
      assert.ok(isHit(again) && !isHit(first));
      assert.ok(again.body.equals(first.body));
      assert.is(again.headers['content-type'], first.headers['content-type']);
    }
    assert.is(other.upstream.requests.length, 2);
    assert.is(other.proxy.services.answers.store.stats().hits, 2);
    const left = Number(/:(\d+)/.exec(await redis.ask('PTTL', await nameOf(redis)))?.[1]);
    assert.ok(left > 3_500_000 && left <= 3_600_000, String(left));
    await other.proxy.services.answers.store.clear();
    assert.not.match(await redis.ask('KEYS', '*'), 'answer');
  }));

const nameOf = async (redis: { ask(...words: string[]): Promise<string> }) =>
  /svc:1:answer:\S+/.exec(await redis.ask('KEYS', 'svc:1:answer:*'))![0];

test('a cached response is never served to another credential', () =>
  withSteadyPair({ yaml: 'cache: { enabled: true }' }, async (one, other) => {
    await send(one, COLD, { 'x-api-key': 'mine' });
    await send(one, COLD);
    await one.proxy.services.answers.store.settled();
    for (const headers of [{ 'x-api-key': 'yours' }, { authorization: 'Bearer mine' }])
      assert.not.ok(isHit(await send(other, COLD, headers)), JSON.stringify(headers));
    assert.ok(isHit(await send(other, COLD, { 'x-api-key': 'mine' })));
    other.configure('cache: { enabled: true }\nproviders: { messages: { api_key: another-key } }');
    await other.proxy.reload();
    assert.ok(isHit(await send(other, COLD)), 'the variable overrides the file');
  }));

test('with another configured key a cached response is not used', () =>
  withSteadyPair(
    {
      yaml: 'cache: { enabled: true }\nproviders: { messages: { api_key: one-key } }',
      env: { MSGPROV_API_KEY: '' },
    },
    async (one, other) => {
      await send(one, COLD);
      await one.proxy.services.answers.store.settled();
      other.configure(
        'cache: { enabled: true }\nproviders: { messages: { api_key: another-key } }',
      );
      await other.proxy.reload();
      assert.not.ok(isHit(await send(other, COLD)));
      other.configure('cache: { enabled: true }\nproviders: { messages: { api_key: one-key } }');
      await other.proxy.reload();
      assert.ok(isHit(await send(other, COLD)));
    },
  ));

test('Redis contains no content, caller or key in plain text, and everything in it expires', () =>
  withSteadyPair(
    { yaml: 'cache: { enabled: true }\nsecurity: { rate_limit_per_minute: 100 }' },
    async (one, other, redis) => {
      const stop = other.upstream.script(undefined, '429', { times: 1 });
      await send(one);
      stop();
      const { text } = await send(one, json(MESSAGE, { temperature: 0 }), {
        'x-api-key': 'mine-alone',
      });
      await one.proxy.services.answers.store.settled();
      const names = (await redis.ask('KEYS', '*')).match(/svc:1:\S+/g)!;
      assert.ok(names.length >= 3, names.join());
      const answerText = (JSON.parse(text) as { content: { text: string }[] }).content[0]!.text;
      for (const name of names) {
        assert.match(await redis.ask('PTTL', name), /:[1-9]\d*\r/, name);
        const type = /\+(\w+)/.exec(await redis.ask('TYPE', name))![1];
        const value = await redis.ask(type === 'hash' ? 'HGETALL' : 'GET', name);
        for (const secret of ['messages-key', 'mine-alone', '127.0.0.1', answerText])
          assert.not.ok(`${name} ${value}`.includes(secret), `${name} shows ${secret}`);
      }
    },
  ));

test.after(closeClients);
test.run();
