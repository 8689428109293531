/**
 * Cached responses shared over a link, with the few Redis commands involved simulated in memory.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, isSvcError } from '../../engine/index.ts';
import type { KeptAnswer } from '../../stages/answers/answer.ts';
import { createMemoryAnswers } from '../../stages/answers/memory.ts';
import type { Connection, Reply } from './connection.ts';
import { RedisLink } from './link.ts';
import { createSharedAnswers } from './shared-answers.ts';

const SILENT = { info: () => undefined, warning: () => undefined, error: () => undefined };
const KEY = 'a'.repeat(64);
const MEGABYTE = 1024 * 1024;
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

const answer = (text: string | Buffer): KeptAnswer => ({
  status: 200,
  headers: ['content-type', 'text/plain'],
  streaming: false,
  chunks: [Buffer.from(text)],
});

function createStore() {
  const clock = createManualClock();
  const values = new Map<string, { bytes: Buffer; untilMs: number }>();
  const state = { isAway: false };
  const remainingMs = (name: string) => (values.get(name)?.untilMs ?? 0) - clock.monotonicMs();
  function play([command, name = '', bytes, , forMs]: readonly (string | Buffer)[]): Reply {
    if (command === 'SET' && Buffer.isBuffer(bytes))
      values.set(String(name), { bytes, untilMs: clock.monotonicMs() + Number(forMs) });
    if (command === 'SCAN')
      return [Buffer.from('0'), [...values.keys()].map((one) => Buffer.from(one))];
    if (command === 'UNLINK') values.clear();
    return 1;
  }
  const run = ([name = '']: readonly string[]): Reply =>
    remainingMs(name) > 0 ? [values.get(name)!.bytes, remainingMs(name)] : [null, -2];
  const answered = (reply: () => Reply) =>
    state.isAway ? Promise.reject(new Error('READONLY gone')) : Promise.resolve(reply());
  const connection: Connection = {
    get isReady() {
      return !state.isAway;
    },
    call: (words) => answered(() => play(words)),
    run: (_script, keys) => answered(() => run(keys)),
    reconnect: () => undefined,
    close: () => undefined,
  };
  return { clock, values, state, connection };
}

async function join(
  store: ReturnType<typeof createStore>,
  ttlMs = 60_000,
  maxBytes = 16 * MEGABYTE,
) {
  const { clock, connection } = store;
  const connect = (events: { ready(): void }) => {
    queueMicrotask(() => events.ready());
    return connection;
  };
  const link = new RedisLink({ connect, clock, log: SILENT, place: 'redis:1', trialKey: 'trial' });
  await turn();
  const bounds = { maxBytes, ttlMs, clock };
  return createSharedAnswers({ own: createMemoryAnswers(bounds), link, ...bounds });
}

const textOf = async (given: KeptAnswer | undefined | Promise<KeptAnswer | undefined>) =>
  (await given)?.chunks.map(String).join('');

test('a response cached by one proxy is served by the other, for the shorter of their lifetimes', async () => {
  const store = createStore();
  const [one, other, brief] = [await join(store), await join(store), await join(store, 10_000)];
  one.put(KEY, answer('a cached answer'));
  await one.settled();
  assert.is(await textOf(other.get(KEY)), 'a cached answer');
  assert.is(await textOf(brief.get(KEY)), 'a cached answer');
  assert.is(await textOf(other.get('b'.repeat(64))), undefined);
  assert.equal([other.stats().hits, other.stats().misses, other.stats().entries], [1, 1, 0]);
  store.clock.advance(10_000);
  assert.is(await textOf(other.get(KEY)), 'a cached answer');
  assert.is(await textOf(brief.get(KEY)), undefined);
  store.clock.advance(50_000);
  assert.is(await textOf(other.get(KEY)), undefined);
  assert.is(other.stats().failures, 0);
});

test('a record that was changed in Redis, or moved to another name, is not served', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store)];
  one.put(KEY, answer('a cached answer'));
  one.put('b'.repeat(64), answer('another'));
  await one.settled();
  const [first, second] = [...store.values.values()];
  const { bytes } = first!;
  first!.bytes = second!.bytes;
  assert.is(await textOf(other.get(KEY)), undefined);
  first!.bytes = Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]);
  assert.is(await textOf(other.get(KEY)), undefined);
  assert.is(other.stats().failures, 2);
});

test('a response that is too large or has no lifetime is not shared', async () => {
  const store = createStore();
  const one = await join(store);
  one.put(KEY, answer(Buffer.alloc(2 * MEGABYTE)));
  assert.ok(await one.get(KEY), 'it is kept in the local store');
  const small = await join(store, 60_000, MEGABYTE);
  small.put(KEY, answer(Buffer.alloc(MEGABYTE / 2)));
  const none = await join(store, 0);
  none.put(KEY, answer('so'));
  for (const each of [one, small, none]) await each.settled();
  assert.is(store.values.size, 0);
});

test('while Redis is unreachable local responses are served, and clearing is reported as incomplete', async () => {
  const store = createStore();
  const one = await join(store);
  one.put(KEY, answer('a cached answer'));
  await one.settled();
  store.state.isAway = true;
  assert.is(await textOf(one.get(KEY)), 'a cached answer');
  assert.is(await textOf(one.get('b'.repeat(64))), undefined);
  assert.is(one.get('b'.repeat(64)), undefined, 'at once, and no promise');
  one.put('c'.repeat(64), answer('alone'));
  assert.is(await textOf(one.get('c'.repeat(64))), 'alone');
  const thrown = await one.clear().then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(isSvcError(thrown) && thrown.kind === 'unavailable');
  assert.match(thrown.message, /Redis at redis:1 are not/);
  assert.is(one.stats().entries, 0);
  store.state.isAway = false;
  store.clock.advance(500);
  await turn();
  assert.is(await textOf(one.get(KEY)), 'a cached answer');
  await one.clear();
  assert.is(await textOf(one.get(KEY)), undefined);
});

test.run();
