import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import type { ManualClock } from '../../engine/index.ts';
import { providerUnreachable } from '../model/errors.ts';
import { requestAdmission } from './admission.ts';
import type { Admission, Refusal } from './admission.ts';
import type { ProviderKey } from './provider.ts';
import { createProviderStates } from './states.ts';
import type { ProviderStates } from './states.ts';

const neverAborted = new AbortController().signal;
const key = (label: string): ProviderKey => ({ secret: `s-${label}`, scheme: 'key', label });

interface Setup {
  readonly clock: ManualClock;
  readonly states: ProviderStates;
  readonly ask: (tried?: Set<string>, usesConfiguredKey?: boolean) => Promise<Admission | Refusal>;
}
function setup(rpm?: number, cooldown429Ms = 60_000): Setup {
  const clock = createManualClock();
  const states = createProviderStates(clock);
  const keys = {
    rotation: 'failover' as const,
    keys: [key('a'), key('b')],
    cooldown429Ms,
    cooldown401Ms: 300_000,
  };
  states.configure(new Map([['p', { keys, pace: rpm === undefined ? undefined : { rpm } }]]));
  return {
    clock,
    states,
    ask: async (triedKeys = new Set(), usesConfiguredKey = true) =>
      requestAdmission({
        provider: 'p',
        state: states.get('p')!,
        triedKeys,
        usesConfiguredKey,
        clock,
        signal: neverAborted,
      }),
  };
}
async function admitted(pending: Promise<Admission | Refusal>): Promise<Admission> {
  const admission = await pending;
  assert.ok(admission.admitted, 'it was refused');
  return admission;
}
async function refused(pending: Promise<Admission | Refusal>): Promise<Refusal> {
  const refusal = await pending;
  assert.ok(!refusal.admitted, 'it was admitted');
  return refusal;
}

test('a 429 cools the key down for the requested time, and the next key is tried', async () => {
  const { clock, ask, states } = setup();
  const tried = new Set<string>();
  const first = await admitted(ask(tried));
  assert.is(first.key?.label, 'a');
  assert.is(first.head(429, ['Retry-After', '10']), 'next_key');
  first.release();
  const second = await admitted(ask(tried));
  assert.is(second.key?.label, 'b');
  assert.is(second.head(401, []), 'next_key');
  second.release();
  const none = await refused(ask(tried));
  assert.equal(
    [none.why, none.error?.code, none.error?.retryAfterS],
    ['keys', 'RATELIMIT_002', 10],
  );
  assert.is(states.view().get('p')?.health.reason, 'rate_limited');
  assert.is(states.view().get('p')?.breaker.failures, 0);
  clock.advance(10_000);
  assert.is((await admitted(ask())).key?.label, 'a');
});

test('without a cooldown every key is tried once, and the last response is passed on', async () => {
  const { ask } = setup(undefined, 0);
  const tried = new Set<string>();
  for (const label of ['a', 'b']) {
    const attempt = await admitted(ask(tried));
    assert.is(attempt.key?.label, label);
    assert.is(attempt.head(429, []), 'next_key');
    attempt.release();
  }
  const none = await refused(ask(tried));
  assert.equal([none.why, none.error], ['keys', undefined]);
});

test('a client’s own key is not rotated, cooled down or replaced', async () => {
  const { ask, states } = setup();
  for (const [status, verdict] of [
    [401, 'accept'],
    [429, 'next_provider'],
    [400, 'accept'],
    [503, 'next_provider'],
  ] as const) {
    const attempt = await admitted(ask(new Set(), false));
    assert.is(attempt.key, undefined);
    assert.is(attempt.head(status, []), verdict);
    attempt.release();
  }
  assert.ok(
    states
      .get('p')!
      .keys.view()
      .every((one) => one.state === 'usable' && one.picked === 0),
  );
});

test('an open breaker refuses before a request is queued', async () => {
  const { ask, states } = setup(1);
  const first = await admitted(ask());
  first.release();
  const { breaker } = states.get('p')!;
  for (let i = 0; i < 5; i += 1) {
    const pass = breaker.tryEnter();
    if (pass.ok) pass.settle('failed');
  }
  const refusal = await refused(ask());
  assert.equal(
    [refusal.why, refusal.error?.kind, refusal.error?.retryAfterS],
    ['breaker', 'circuit_open', 30],
  );
  assert.is(states.get('p')?.pace?.view().waiting, 0);
});

test('a request above the limit waits, and the wait is reported', async () => {
  const { ask, clock } = setup(1);
  (await admitted(ask())).release();
  clock.advance(40_000);
  const waiting = ask();
  await Promise.resolve();
  clock.advance(20_000);
  assert.is((await admitted(waiting)).waitedMs, 20_000);
  const next = ask();
  await Promise.resolve();
  const late = await refused(ask());
  clock.advance(60_000);
  await admitted(next);
  assert.equal([late.why, late.error?.code], ['pace', 'RATELIMIT_002']);
});

test('a 2xx head counts as a success only with its content, and a later break as a failure', async () => {
  const { ask, states } = setup();
  const counts = (): (number | undefined)[] => {
    const view = states.view().get('p');
    return [view?.breaker.requests, view?.breaker.failures, view?.health.failuresInRow];
  };
  const silent = await admitted(ask());
  assert.is(silent.head(200, []), 'accept');
  assert.equal(counts(), [0, 0, 0]);
  silent.failed(providerUnreachable('reset'), neverAborted);
  silent.release();
  assert.equal(counts(), [1, 1, 1]);
  const broke = await admitted(ask());
  broke.head(200, []);
  broke.content();
  assert.equal(counts(), [2, 1, 0]);
  broke.errorEvent();
  broke.errorEvent();
  broke.release();
  assert.equal(counts(), [2, 2, 1]);
  const abandoned = await admitted(ask());
  abandoned.head(200, []);
  abandoned.failed(providerUnreachable('reset'), AbortSignal.abort(new Error('client gone')));
  abandoned.release();
  assert.equal(counts(), [2, 2, 1]);
});

/** What a scripted provider does to one attempt. */
type Fate =
  | 'answer'
  | 'limited'
  | 'refused'
  | 'overloaded'
  | 'unreachable'
  | 'breaks'
  | 'client leaves';

function applyFate(attempt: Admission, fate: Fate): 'done' | 'next_key' | 'next_provider' {
  const status = { limited: 429, refused: 401, overloaded: 529 }[fate as string] ?? 200;
  if (fate === 'unreachable') {
    attempt.failed(providerUnreachable('refused'), neverAborted);
    return 'next_provider';
  }
  const verdict = attempt.head(status, []);
  if (verdict !== 'accept') return verdict;
  if (fate !== 'client leaves') attempt.content();
  if (fate === 'breaks') attempt.errorEvent();
  return 'done';
}

test('however providers fail, each request ends, tries no key twice, and no provider is locked out for good', async () => {
  const fates = fc.constantFrom<Fate>(
    'answer',
    'limited',
    'refused',
    'overloaded',
    'unreachable',
    'breaks',
    'client leaves',
  );
  const request = fc.record({
    fates: fc.array(fates, { minLength: 6, maxLength: 6 }),
    gapMs: fc.nat(20_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 40, size: 'max' }), async (requests) => {
      const { clock, ask, states } = setup();
      for (const { fates: script, gapMs } of requests) {
        clock.advance(gapMs);
        const tried = new Set<string>();
        const labels: (string | undefined)[] = [];
        for (;;) {
          const attempt = await ask(tried);
          if (!attempt.admitted) break;
          labels.push(attempt.key?.label);
          const end = applyFate(attempt, script[labels.length]!);
          attempt.release();
          if (end !== 'next_key') break;
        }
        assert.is(new Set(labels).size, labels.length);
        assert.ok(labels.length <= 2);
      }
      clock.advance(600_000);
      (await admitted(ask())).content();
      assert.is(states.breakers().providers['p']?.state, 'closed');
      assert.is(states.view().get('p')?.health.state, 'healthy');
    }),
    { numRuns: 60 },
  );
});

test('sixteen concurrent requests to a flapping provider all end, with at most one probe at a time', async () => {
  const plan = fc.record({
    phaseMs: fc.integer({ min: 5_000, max: 60_000 }),
    works: fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 64, maxLength: 64 }),
    leaves: fc.integer({ min: 3, max: 20 }),
  });
  let probesSeen = 0;
  await fc.assert(
    fc.asyncProperty(plan, async ({ phaseMs, works, leaves }) => {
      const { clock, ask, states } = setup();
      const ends: string[] = [];
      let probesOut = 0;
      const wait = (ms: number): Promise<void> =>
        new Promise((resolve) => clock.after(ms, resolve));
      async function request(index: number): Promise<void> {
        const attempt = await ask();
        if (!attempt.admitted) {
          ends[index] = attempt.why;
          return wait(1_000);
        }
        probesOut += attempt.isProbe ? 1 : 0;
        probesSeen += attempt.isProbe ? 1 : 0;
        assert.ok(probesOut <= 1, 'two probes are running');
        await wait(works[index % works.length]!);
        const isDown = Math.floor(clock.monotonicMs() / phaseMs) % 2 === 0;
        const fate: Fate =
          index % leaves === 0 ? 'client leaves' : isDown ? 'overloaded' : 'answer';
        probesOut -= attempt.isProbe ? 1 : 0;
        ends[index] = applyFate(attempt, fate);
        attempt.release();
      }
      async function connection(first: number): Promise<void> {
        for (let index = first; index < 960; index += 16) await request(index);
      }
      const all = Promise.all(Array.from({ length: 16 }, (_, first) => connection(first)));
      const over = new AbortController();
      void all.finally(() => over.abort()).catch(() => undefined);
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        assert.ok(turn < 5_000, 'a request hangs');
        clock.advance(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await all;
      assert.is(ends.filter((end) => end !== undefined).length, 960);
      clock.advance(60_000);
      assert.is((await ask()).admitted, true);
      assert.is(states.breakers().anyOpen, false);
    }),
    { numRuns: 10 },
  );
  assert.ok(probesSeen > 0);
});

/** A breaker open in all proxies, and another proxy's reply when this one wants to probe. */
async function openInAllProxies(
  claim: (states: ProviderStates) => boolean,
): Promise<Setup & { claims: number }> {
  const opened = setup();
  const result = { ...opened, claims: 0 };
  opened.states.connect({
    breakerMoved: () => undefined,
    keyMoved: () => undefined,
    async claimProbe(provider) {
      assert.is(provider, 'p');
      result.claims += 1;
      return claim(opened.states);
    },
  });
  for (let i = 0; i < 5; i += 1) (await admitted(opened.ask())).errorEvent();
  opened.clock.advance(30_000);
  return result;
}

test('a probe is sent only if this proxy has claimed it among all proxies', async () => {
  const claimed = await openInAllProxies(() => true);
  const probe = claimed.ask();
  assert.is(
    (await refused(claimed.ask())).why,
    'breaker',
    'no other request is sent while the claim is pending',
  );
  assert.ok((await admitted(probe)).isProbe);
  assert.is(claimed.claims, 1);
  const notClaimed = await openInAllProxies((states) => {
    states.get('p')!.breaker.yieldProbe(1000);
    return false;
  });
  assert.is((await refused(notClaimed.ask())).why, 'breaker');
  assert.is((await refused(notClaimed.ask())).why, 'breaker');
  assert.is(notClaimed.claims, 1, 'the claim is not repeated for a second');
  notClaimed.clock.advance(1000);
  await refused(notClaimed.ask());
  assert.is(notClaimed.claims, 2);
});

test('if another proxy has closed the breaker, the request is sent as usual', async () => {
  const closed = await openInAllProxies((states) => {
    states.get('p')!.breaker.applyClosed();
    return false;
  });
  const admission = await admitted(closed.ask());
  assert.not.ok(admission.isProbe);
  admission.content();
  assert.is(closed.states.get('p')!.breaker.view().state, 'closed');
});

test.run();
