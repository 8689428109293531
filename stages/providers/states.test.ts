import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import type { ProviderKey } from './provider.ts';
import type { ProviderStates, ProviderStateSettings } from './states.ts';
import { createProviderStates } from './states.ts';

const key: ProviderKey = { secret: 'very-secret', scheme: 'key', label: 'CHATPROV_API_KEY' };
const plain: ProviderStateSettings = {
  keys: { rotation: 'failover', keys: [key], cooldown429Ms: 60_000, cooldown401Ms: 300_000 },
};
const paced: ProviderStateSettings = { ...plain, pace: { rpm: 1 } };

function threeProviders(): { clock: ReturnType<typeof createManualClock>; states: ProviderStates } {
  const clock = createManualClock();
  const states = createProviderStates(clock);
  states.configure(
    new Map([
      ['a', plain],
      ['b', paced],
      ['c', plain],
    ]),
  );
  return { clock, states };
}
function openBreakerOf(states: ProviderStates, name: string): void {
  for (let i = 0; i < 5; i += 1) {
    const pass = states.get(name)!.breaker.tryEnter();
    if (pass.ok) pass.settle('failed');
  }
}

test('healthy providers come first, the others stay available', () => {
  const { clock, states } = threeProviders();
  assert.equal(states.inOrder(['c', 'a', 'nobody']), ['c', 'a']);
  states.forceHealth('a', 'unhealthy');
  openBreakerOf(states, 'b');
  assert.equal(states.inOrder(['a', 'b', 'c']), ['c', 'a', 'b']);
  clock.advance(30_000);
  assert.equal(states.inOrder(['a', 'b', 'c']), ['b', 'c', 'a']);
});

test('the state survives a reload, and new settings take effect', async () => {
  const { states } = threeProviders();
  const before = states.get('b')!;
  openBreakerOf(states, 'b');
  for (let n = 0; n < 3; n += 1) before.health.settle('failed');
  assert.is(before.pace?.enter(new AbortController().signal), 0);
  states.configure(
    new Map([
      ['b', { ...paced, pace: { rpm: 2 } }],
      ['a', plain],
    ]),
  );
  const after = states.get('b')!;
  assert.is(after.breaker.view().state, 'open');
  assert.is(after.health.isHealthy(), false);
  assert.equal(after.pace?.view(), { rpm: 2, started: 1, waiting: 0 });
  assert.is(states.get('c'), undefined);
  states.configure(new Map([['b', plain]]));
  assert.is(states.get('b')?.pace, undefined);
});

test('an operator resets a provider and its breaker', () => {
  const { states } = threeProviders();
  openBreakerOf(states, 'a');
  assert.is(states.forceHealth('a', 'healthy'), true);
  assert.is(states.get('a')?.breaker.tryEnter().ok, true);
  assert.is(states.forceHealth('nobody', 'healthy'), false);
});

test('an operator who resets a provider makes its refused keys usable again', () => {
  const { states } = threeProviders();
  const { keys } = states.get('a')!;
  for (let pick = keys.pick(); pick.usable; pick = keys.pick()) keys.reject(pick.id, 'refused');
  assert.is(keys.isUsable(), false);
  states.forceHealth('a', 'unhealthy');
  assert.is(keys.isUsable(), false);
  states.forceHealth('a', 'healthy');
  assert.is(keys.isUsable(), true);
  assert.is(keys.pick().usable, true);
});

test('the view shows the open breaker and no secret', () => {
  const { states } = threeProviders();
  openBreakerOf(states, 'c');
  assert.equal(states.breakers(), {
    anyOpen: true,
    providers: {
      a: { state: 'closed', open: false, failures: 0 },
      b: { state: 'closed', open: false, failures: 0 },
      c: { state: 'open', open: true, failures: 5 },
    },
  });
  const printed = JSON.stringify([...states.view()]);
  assert.match(printed, /CHATPROV_API_KEY/);
  assert.not.match(printed, /very-secret/);
});

test.run();
