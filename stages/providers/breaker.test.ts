import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { Breaker } from './breaker.ts';
import type { BreakerOutcome, BreakerPass } from './breaker.ts';

function enter(breaker: Breaker): BreakerPass {
  const pass = breaker.tryEnter();
  assert.ok(pass.ok, 'the breaker refuses');
  return pass;
}
function run(breaker: Breaker, outcome: BreakerOutcome, times = 1): void {
  for (let i = 0; i < times; i += 1) enter(breaker).settle(outcome);
}
function openBreaker(): { clock: ReturnType<typeof createManualClock>; breaker: Breaker } {
  const clock = createManualClock();
  const breaker = new Breaker(clock);
  run(breaker, 'failed', 5);
  return { clock, breaker };
}

test('five failures open it for 30 s, and four do not', () => {
  const clock = createManualClock();
  const breaker = new Breaker(clock);
  run(breaker, 'failed', 4);
  assert.is(breaker.view().state, 'closed');
  run(breaker, 'failed');
  assert.equal(breaker.view(), { state: 'open', requests: 5, failures: 5, openForS: 30 });
  clock.advance(12_500);
  assert.equal(breaker.tryEnter(), { ok: false, openForS: 17.5 });
});

test('it stays closed if fewer than half of the requests failed, and opens at half', () => {
  const breaker = new Breaker(createManualClock());
  run(breaker, 'succeeded', 6);
  run(breaker, 'failed', 5);
  assert.is(breaker.view().state, 'closed');
  run(breaker, 'failed');
  assert.is(breaker.view().state, 'open');
});

test('failures count for one minute', () => {
  const clock = createManualClock();
  const breaker = new Breaker(clock);
  run(breaker, 'failed', 4);
  clock.advance(59_000);
  assert.is(breaker.view().failures, 4);
  clock.advance(1_000);
  assert.is(breaker.view().failures, 0);
  run(breaker, 'failed', 4);
  assert.is(breaker.view().state, 'closed');
  clock.advance(10_000_000);
  assert.is(breaker.view().failures, 0);
});

test('one probe decides, and no other request is sent meanwhile', () => {
  const { clock, breaker } = openBreaker();
  clock.advance(30_000);
  assert.is(breaker.view().state, 'half_open');
  const probe = enter(breaker);
  assert.is(probe.probe, true);
  assert.equal(breaker.tryEnter(), { ok: false, openForS: 1 });
  probe.settle('failed');
  assert.equal(breaker.tryEnter(), { ok: false, openForS: 30 });
  clock.advance(30_000);
  enter(breaker).settle('succeeded');
  assert.equal(breaker.view(), { state: 'closed', requests: 1, failures: 0, openForS: 0 });
});

test('an abandoned probe is replaced at once, and a hanging one after 30 s', () => {
  const { clock, breaker } = openBreaker();
  clock.advance(30_000);
  enter(breaker).settle('abandoned');
  const hung = enter(breaker);
  clock.advance(29_999);
  assert.is(breaker.tryEnter().ok, false);
  clock.advance(1);
  const next = enter(breaker);
  assert.is(next.probe, true);
  hung.settle('failed');
  next.settle('succeeded');
  assert.is(breaker.view().state, 'closed');
});

test('outcomes of requests from before a change of state are ignored', () => {
  const clock = createManualClock();
  const breaker = new Breaker(clock);
  const old = Array.from({ length: 20 }, () => enter(breaker));
  for (const pass of old.slice(0, 5)) pass.settle('failed');
  for (const pass of old.slice(5, 10)) pass.settle('succeeded');
  assert.is(breaker.view().state, 'open', 'a late success does not close it');
  clock.advance(30_000);
  enter(breaker).settle('succeeded');
  for (const pass of old.slice(10)) pass.settle('failed');
  assert.equal(breaker.view(), { state: 'closed', requests: 1, failures: 0, openForS: 0 });
});

test('only the first outcome counts, except a failure after a success', () => {
  const breaker = new Breaker(createManualClock());
  const twice = enter(breaker);
  twice.settle('failed');
  twice.settle('failed');
  twice.settle('succeeded');
  assert.is(breaker.view().failures, 1);
  const broke = enter(breaker);
  broke.settle('succeeded');
  broke.settle('failed');
  broke.settle('failed');
  assert.equal(breaker.view(), { state: 'closed', requests: 2, failures: 2, openForS: 0 });
});

test('a probe that answered and then broke off counts as a first failure, not as a failed probe', () => {
  const { clock, breaker } = openBreaker();
  clock.advance(30_000);
  const probe = enter(breaker);
  probe.settle('succeeded');
  probe.settle('failed');
  assert.equal(breaker.view(), { state: 'closed', requests: 1, failures: 1, openForS: 0 });
});

test('a reset closes it and clears the counts', () => {
  const { breaker } = openBreaker();
  breaker.reset();
  assert.equal(breaker.view(), { state: 'closed', requests: 0, failures: 0, openForS: 0 });
  assert.is(enter(breaker).probe, false);
});

/** A model of the breaker: it keeps all events and answers each question by reading all of them. */
function createModel() {
  let events: { second: number; request: number; failure: number }[] = [];
  let phase:
    | { name: 'closed' }
    | { name: 'open'; untilMs: number }
    | { name: 'probing'; untilMs: number } = {
    name: 'closed',
  };
  let epoch = 0;
  const passes = new Map<number, { epoch: number; probe: boolean; results: string[] }>();
  const recent = (nowMs: number) =>
    events.filter((one) => one.second > Math.floor(nowMs / 1000) - 60);
  const turn = (next: typeof phase): void => {
    phase = next;
    epoch += 1;
  };
  return {
    chapter: () => epoch,
    enter(id: number, nowMs: number): string {
      if (phase.name !== 'closed' && nowMs < phase.untilMs) return `refused ${phase.name}`;
      const probe = phase.name !== 'closed';
      if (probe) turn({ name: 'probing', untilMs: nowMs + 30_000 });
      passes.set(id, { epoch, probe, results: [] });
      return probe ? 'probe' : 'admitted';
    },
    settle(id: number, outcome: string, nowMs: number): void {
      const entry = passes.get(id)!;
      const before = entry.results.join();
      if (before !== '' && !(before === 'succeeded' && outcome === 'failed')) return;
      entry.results.push(outcome);
      if (entry.epoch !== epoch) return;
      if (entry.probe && before === '') {
        if (outcome === 'abandoned') phase = { name: 'probing', untilMs: nowMs };
        if (outcome === 'failed') turn({ name: 'open', untilMs: nowMs + 30_000 });
        if (outcome !== 'succeeded') return;
        turn({ name: 'closed' });
        events = [];
        entry.epoch = epoch;
      }
      if (outcome === 'abandoned') return;
      const failure = outcome === 'failed' ? 1 : 0;
      events.push({ second: Math.floor(nowMs / 1000), request: before === '' ? 1 : 0, failure });
      const all = recent(nowMs);
      const failed = all.filter((one) => one.failure === 1).length;
      const sent = all.filter((one) => one.request === 1).length;
      if (failure === 1 && failed >= 5 && 2 * failed >= sent)
        turn({ name: 'open', untilMs: nowMs + 30_000 });
    },
    failures: (nowMs: number) => recent(nowMs).filter((one) => one.failure === 1).length,
  };
}

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('enter' as const) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('settle' as const),
        which: fc.nat(1000),
        outcome: fc.constantFrom<BreakerOutcome>('failed', 'failed', 'succeeded', 'abandoned'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(40_000) }) },
  ),
  { minLength: 20, maxLength: 120, size: 'max' },
);

test('the breaker agrees with a model of all events and never stays open forever', () => {
  let probes = 0;
  fc.assert(
    fc.property(steps, (list) => {
      const clock = createManualClock();
      const breaker = new Breaker(clock);
      const model = createModel();
      const passes: BreakerPass[] = [];
      for (const step of list) {
        const nowMs = clock.monotonicMs();
        if (step.do === 'wait') clock.advance(step.ms);
        if (step.do === 'enter') {
          const pass = breaker.tryEnter();
          const results = model.enter(passes.length, nowMs);
          assert.is(
            pass.ok ? (pass.probe ? 'probe' : 'admitted') : 'refused',
            results.split(' ')[0],
          );
          if (pass.ok) passes.push(pass);
          if (pass.ok && pass.probe) probes += 1;
        }
        if (step.do === 'settle' && passes.length > 0) {
          // Mostly the newest, as in practice, so that probes are settled too.
          const index = step.which % 3 === 0 ? step.which % passes.length : passes.length - 1;
          passes[index]!.settle(step.outcome);
          model.settle(index, step.outcome, nowMs);
        }
        assert.is(breaker.view().failures, model.failures(clock.monotonicMs()));
      }
      clock.advance(30_000);
      assert.is(breaker.tryEnter().ok, true);
    }),
    { numRuns: 300 },
  );
  assert.ok(probes > 50, `only ${probes} probes were seen`);
});

function recordingObserver(): {
  moves: string[];
  clock: ReturnType<typeof createManualClock>;
  breaker: Breaker;
} {
  const moves: string[] = [];
  const clock = createManualClock();
  return { moves, clock, breaker: new Breaker(clock, (move) => moves.push(move)) };
}

test('local changes are reported, and changes received from other proxies are not', () => {
  const { moves, clock, breaker } = recordingObserver();
  run(breaker, 'failed', 5);
  clock.advance(30_000);
  run(breaker, 'abandoned');
  run(breaker, 'failed');
  clock.advance(30_000);
  run(breaker, 'succeeded');
  breaker.reset();
  assert.equal(moves, ['opened', 'freed', 'opened', 'closed', 'closed']);
  breaker.applyOpen(1000);
  breaker.applyClosed();
  breaker.yieldProbe(1000);
  assert.is(moves.length, 5);
});

test('another proxy opens it for the given time, and then a probe is sent', () => {
  const { clock, breaker } = recordingObserver();
  const early = enter(breaker);
  breaker.applyOpen(12_000);
  assert.equal(breaker.tryEnter(), { ok: false, openForS: 12 });
  early.settle('succeeded');
  assert.is(breaker.view().state, 'open', 'requests from before no longer count');
  clock.advance(12_000);
  assert.ok(enter(breaker).probe);
  breaker.applyOpen(0);
  assert.ok(enter(breaker).probe, 'it had expired when the message arrived');
});

test('another proxy closes it, and the counts restart', () => {
  const { breaker } = recordingObserver();
  run(breaker, 'failed', 4);
  breaker.applyClosed();
  run(breaker, 'failed', 4);
  assert.is(breaker.view().state, 'closed');
  run(breaker, 'failed');
  breaker.applyClosed();
  assert.equal(breaker.view(), { state: 'closed', requests: 0, failures: 0, openForS: 0 });
});

test('while another proxy probes, none is sent here, and the claim is repeated a second later', () => {
  const { clock, breaker } = recordingObserver();
  run(breaker, 'failed', 5);
  clock.advance(30_000);
  const localPass = enter(breaker);
  breaker.yieldProbe(1000);
  localPass.settle('succeeded');
  assert.equal(breaker.tryEnter(), { ok: false, openForS: 1 });
  assert.is(breaker.view().state, 'half_open');
  clock.advance(1000);
  assert.ok(enter(breaker).probe);
});

test.run();
