/** Provider state that proxies exchange, with the Redis commands simulated in memory. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { requestAdmission } from '../../stages/providers/admission.ts';
import { createProviderStates } from '../../stages/providers/states.ts';
import type { Connection, Reply } from './connection.ts';
import { RedisLink } from './link.ts';
import { shareProviders } from './shared-states.ts';
import { CLAIM, FREE, READ, WRITE } from './record.ts';

const SILENT = { info: () => undefined, warning: () => undefined, error: () => undefined };
const bytes = (text: string | undefined): Reply => (text === undefined ? null : Buffer.from(text));
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

/** The records of one Redis, used by proxies that each have their own clock. */
function createStore() {
  const clock = createManualClock();
  const values = new Map<string, { text: string; untilMs: number }>();
  const state = { isAway: false, writes: 0 };
  const get = (name: string): string | undefined => {
    const found = values.get(name);
    return found !== undefined && found.untilMs > clock.monotonicMs() ? found.text : undefined;
  };
  const set = (name: string, text: string, forMs: number): void =>
    void values.set(name, { text, untilMs: clock.monotonicMs() + forMs });
  const now = () => Math.round(clock.wallMs());
  function play(
    script: object,
    [name = '', probe = '', ...rest]: readonly string[],
    given: readonly string[],
  ): Reply {
    const [first = '', second = '', third = ''] = given;
    if (script === WRITE) {
      state.writes += 1;
      set(name, `${first} ${now() + Number(second)} ${third}`, Number(second) + 60_000);
      values.delete(probe);
      return 1;
    }
    if (script === READ) {
      const names = [name, probe, ...rest].filter((one) => one !== '');
      return [bytes(String(now())), ...names.map((one) => bytes(get(one)))];
    }
    if (script === CLAIM) {
      const record = get(name);
      if (record !== undefined && record.split(' ')[2] !== first)
        return [bytes('news'), bytes(String(now())), bytes(record)];
      if (get(probe) !== undefined) return [bytes('held')];
      set(probe, second, Number(third));
      return [bytes('ours')];
    }
    if (script === FREE && get(name) === first) values.delete(name);
    return 1;
  }
  const connect = (): Connection => ({
    get isReady() {
      return !state.isAway;
    },
    call: () => Promise.reject(new Error('nothing of this kind')),
    run: (script, keys, given) =>
      state.isAway
        ? Promise.reject(new Error('READONLY gone'))
        : Promise.resolve(play(script, keys, given)),
    reconnect: () => undefined,
    close: () => undefined,
  });
  return { clock, state, connect, forget: () => values.clear() };
}

type Store = ReturnType<typeof createStore>;

async function join(store: Store, place = 'https://api.example.net') {
  const { clock } = store;
  const link = new RedisLink({
    connect(events) {
      queueMicrotask(() => events.ready());
      return store.connect();
    },
    clock,
    log: SILENT,
    place: 'redis:1',
    trialKey: 'trial',
  });
  const states = createProviderStates(clock);
  shareProviders(states, link);
  const keys = {
    rotation: 'failover' as const,
    keys: ['a', 'b'].map((name) => ({ secret: name, scheme: 'key' as const, label: name })),
    cooldown429Ms: 60_000,
    cooldown401Ms: 300_000,
  };
  states.configure(new Map([['p', { keys, identity: { kind: 'chat', place } }]]));
  await turn();
  const state = states.get('p')!;
  const { breaker, keys: ring } = state;
  const claimProbe = () => state.claimProbe();
  const fail = (times: number): void => {
    for (let i = 0; i < times; i += 1) {
      const pass = breaker.tryEnter();
      if (pass.ok) pass.settle('failed');
    }
  };
  const ask = async () =>
    requestAdmission({
      provider: 'p',
      state,
      triedKeys: new Set(),
      usesConfiguredKey: true,
      clock,
      signal: new AbortController().signal,
    });
  return { link, states, breaker, ring, claimProbe, fail, ask };
}

/** Lets each proxy read once. */
async function tick({ clock }: Store): Promise<void> {
  await turn();
  clock.advance(500);
  await turn();
}

test('a breaker that opens and closes in one proxy does so in the other', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store)];
  one.fail(5);
  await tick(store);
  assert.equal(other.breaker.view().openForS, 29.5);
  assert.is(store.state.writes, 1, 'a proxy that learned of it does not write it again');
  other.states.forceHealth('p', 'healthy');
  await tick(store);
  assert.is(one.breaker.view().state, 'closed');
});

test('a proxy that joins later learns the current state, and nothing that has expired', async () => {
  const store = createStore();
  const one = await join(store);
  one.fail(5);
  const [first = ''] = one.ring.ids();
  one.ring.reject(first, 'limited', 20_000);
  await tick(store);
  const late = await join(store);
  await tick(store);
  assert.is(late.breaker.view().state, 'open');
  assert.is(late.ring.view()[0]?.state, 'limited');
  assert.is(late.ring.view()[0]?.waitMs, 19_000);
  store.clock.advance(200_000);
  const later = await join(store);
  await tick(store);
  assert.equal([later.breaker.view().state, later.ring.view()[0]?.state], ['closed', 'usable']);
});

test('another server under the same name is another provider', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store, 'http://127.0.0.1:1 on attic')];
  one.fail(5);
  one.ring.reject(one.ring.ids()[0]!, 'refused');
  await tick(store);
  assert.is(other.breaker.view().state, 'closed');
  assert.is(other.ring.view()[0]?.state, 'usable');
});

test('only one proxy probes, and a released probe can be claimed again', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store)];
  one.fail(5);
  await tick(store);
  store.clock.advance(30_000);
  await turn();
  const pass = one.breaker.tryEnter();
  assert.ok(pass.ok && pass.probe);
  assert.is(await one.claimProbe(), true);
  assert.ok(other.breaker.tryEnter().ok);
  assert.is(await other.claimProbe(), false);
  assert.not.ok(other.breaker.tryEnter().ok);
  pass.settle('abandoned');
  store.clock.advance(1000);
  await turn();
  assert.ok(other.breaker.tryEnter().ok);
  assert.is(await other.claimProbe(), true, 'the first was given back');
});

test('a proxy that is about to probe learns the result of the last probe', async () => {
  for (const outcome of ['succeeded', 'failed'] as const) {
    const store = createStore();
    const [one, other] = [await join(store), await join(store)];
    one.fail(5);
    await tick(store);
    store.clock.advance(29_600);
    await turn();
    const pass = one.breaker.tryEnter();
    assert.ok(pass.ok);
    assert.is(await one.claimProbe(), true);
    pass.settle(outcome);
    await Promise.resolve();
    assert.ok(other.breaker.tryEnter().ok);
    assert.is(await other.claimProbe(), false, outcome);
    assert.is(other.breaker.view().state, outcome === 'failed' ? 'open' : 'closed');
  }
});

test('records that failed to be written, or were lost by Redis, are written when it is back', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store)];
  store.state.isAway = true;
  await tick(store);
  one.fail(5);
  one.ring.reject(one.ring.ids()[0]!, 'limited', 50_000);
  store.state.isAway = false;
  await tick(store);
  await tick(store);
  assert.equal([other.breaker.view().state, other.ring.view()[0]?.state], ['open', 'limited']);
  store.forget();
  await tick(store);
  const late = await join(store);
  await tick(store);
  assert.equal([late.breaker.view().state, late.ring.view()[0]?.state], ['open', 'limited']);
});

test('an operator’s decision that could not be written is not undone by an older record', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store)];
  one.fail(5);
  await tick(store);
  store.state.isAway = true;
  await tick(store);
  one.states.forceHealth('p', 'healthy');
  store.state.isAway = false;
  await tick(store);
  await tick(store);
  assert.equal([one.breaker.view().state, other.breaker.view().state], ['closed', 'closed']);
});

test('an expired cooldown that could not be written does not end a newer one', async () => {
  const store = createStore();
  const [other, one] = [await join(store), await join(store)];
  const [id = ''] = one.ring.ids();
  store.state.isAway = true;
  await tick(store);
  one.ring.reject(id, 'limited', 5000);
  other.ring.reject(id, 'limited', 100_000);
  store.clock.advance(6000);
  store.state.isAway = false;
  await tick(store);
  await tick(store);
  assert.equal(
    [one, other].map(({ ring }) => ring.view()[0]?.state),
    ['limited', 'limited'],
  );
});

test('a probe counts even if an older opening is read after it', async () => {
  const store = createStore();
  const [one, other] = [await join(store), await join(store)];
  store.state.isAway = true;
  await tick(store);
  store.clock.advance(200);
  for (const { fail } of [one, other]) fail(5);
  store.clock.advance(29_300);
  store.state.isAway = false;
  await tick(store);
  await turn();
  // The other proxy wrote its opening later, so this one reads it only at its next tick.
  store.clock.advance(200);
  const admission = await one.ask();
  assert.ok(admission.admitted && admission.isProbe);
  admission.content();
  assert.is(one.breaker.view().state, 'closed');
});

test('no probe is claimed while Redis is unreachable', async () => {
  const store = createStore();
  const one = await join(store);
  store.state.isAway = true;
  await tick(store);
  one.fail(5);
  assert.is(one.claimProbe(), undefined);
});

test.run();
