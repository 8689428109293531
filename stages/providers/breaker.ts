/**
 * The circuit breaker of one provider: it stops calling a failing provider, and probes with one
 * request at a time whether it has recovered.
 *
 * | state     | event                                   | next      | also                         |
 * |-----------|-----------------------------------------|-----------|------------------------------|
 * | closed    | entry                                   | closed    | admitted                     |
 * | closed    | success                                 | closed    | counted for 60 s             |
 * | closed    | failure                                 | closed    | counted for 60 s             |
 * | closed    | failure: ≥ 5, and ≥ half of all         | open      | for 30 s                     |
 * | open      | entry                                   | open      | refused with the time left   |
 * | open      | entry after 30 s                        | half_open | admitted as the probe        |
 * | half_open | entry                                   | half_open | refused                      |
 * | half_open | the probe succeeds                      | closed    | the counts are reset         |
 * | half_open | the probe fails                         | open      | for 30 s                     |
 * | half_open | the probe is abandoned                  | half_open | the next entry is the probe  |
 * | half_open | entry 30 s after a probe with no report | half_open | admitted as the probe        |
 * | any       | reset                                   | closed    | the counts are reset         |
 *
 * If proxies share their breakers, the findings of one apply to the others:
 *
 * | state     | another proxy says                      | next      | also                         |
 * |-----------|-----------------------------------------|-----------|------------------------------|
 * | any       | it is open, for so long                 | open      | for so long                  |
 * | any       | it is closed                            | closed    | the counts are reset         |
 * | half_open | its probe is running instead of ours    | half_open | the next entry asks again    |
 *
 * Requests admitted before the state changed no longer count: a late report of an old failure must
 * not reopen a provider that has recovered. The last row but one of the first table keeps a hanging
 * probe from locking a provider out.
 */
import type { Clock } from '../../engine/index.ts';

/**
 * What an attempt says about its provider; `abandoned` says nothing, for example when the client
 * left.
 */
export type BreakerOutcome = 'succeeded' | 'failed' | 'abandoned';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** Admission of one attempt. */
export interface BreakerPass {
  readonly ok: true;
  /** True for the one request that probes whether the provider has recovered. */
  readonly probe: boolean;
  /**
   * Reports how the attempt went. The first report counts; only a failure may follow a success, for
   * a stream that began well and broke.
   */
  settle(outcome: BreakerOutcome): void;
}

export interface BreakerRefusal {
  readonly ok: false;
  /** Seconds until a retry makes sense, with a fraction. */
  readonly openForS: number;
}

export interface BreakerView {
  readonly state: BreakerState;
  /** Requests and failures in the window. */
  readonly requests: number;
  readonly failures: number;
  /** Seconds until a probe is let through; 0 unless open. */
  readonly openForS: number;
}

/** Shortest wait in a refusal while a probe is running: its end is unknown. */
const PROBE_WAIT_S = 1;
/** Minimum number of failures in the window that open it. */
const MIN_FAILURES = 5;
/** The share of the window's requests that must have failed. */
const FAILURE_RATIO = 0.5;
/** How long it is open, and how long an unreported probe blocks further probes. */
export const OPEN_MS = 30_000;
/** How long an event counts: between 59 and 60 of its steps. */
const WINDOW_MS = 60_000;
const STEPS = 60;
const STEP_MS = WINDOW_MS / STEPS;

/** Local changes that other proxies may need to know; `freed`: the probe was abandoned. */
export type BreakerMove = 'opened' | 'closed' | 'freed';

/** A breaker in this process's memory; `clock` is only used for monotonic time. */
export class Breaker {
  readonly #clock: Clock;
  readonly #moved: (move: BreakerMove) => void;
  readonly #window = new Window();
  #state: BreakerState = 'closed';
  /**
   * While open: when a probe may be sent. While half open: when the current probe counts as lost.
   */
  #untilMs = 0;
  /** Passes of an older epoch no longer count. */
  #epoch = 0;

  /** `moved` is called for local changes, not for those received from other proxies. */
  constructor(clock: Clock, moved: (move: BreakerMove) => void = () => undefined) {
    this.#clock = clock;
    this.#moved = moved;
  }

  /** Requests permission to send. Constant time. Every pass must be settled. */
  tryEnter(): BreakerPass | BreakerRefusal {
    if (this.#state === 'closed') return this.#admit(false);
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#untilMs) {
      const leftS = (this.#untilMs - nowMs) / 1000;
      return { ok: false, openForS: this.#state === 'open' ? leftS : PROBE_WAIT_S };
    }
    this.#state = 'half_open';
    this.#untilMs = nowMs + OPEN_MS;
    this.#epoch += 1;
    return this.#admit(true);
  }

  /** Returns true while it refuses all requests; false once a probe may be sent. */
  isOpen(): boolean {
    return this.#state === 'open' && this.#clock.monotonicMs() < this.#untilMs;
  }

  /** Closes the breaker at an operator's command. */
  reset(): void {
    this.applyClosed();
    this.#moved('closed');
  }

  /** Another proxy has opened it, and lets a probe through in `openForMs`. */
  applyOpen(openForMs: number): void {
    this.#state = 'open';
    this.#untilMs = this.#clock.monotonicMs() + openForMs;
    this.#epoch += 1;
  }

  /** Another proxy has closed it. */
  applyClosed(): void {
    this.#state = 'closed';
    this.#epoch += 1;
    this.#window.clear();
  }

  /**
   * Another proxy's probe is running: ours must not be sent. The next claim is made after `waitMs`.
   */
  yieldProbe(waitMs: number): void {
    this.#state = 'half_open';
    this.#untilMs = this.#clock.monotonicMs() + waitMs;
    this.#epoch += 1;
  }

  view(): BreakerView {
    const nowMs = this.#clock.monotonicMs();
    this.#window.advance(nowMs);
    const isOpen = this.isOpen();
    return {
      state: this.#state === 'open' && !isOpen ? 'half_open' : this.#state,
      requests: this.#window.requests,
      failures: this.#window.failures,
      openForS: isOpen ? (this.#untilMs - nowMs) / 1000 : 0,
    };
  }

  #admit(probe: boolean): BreakerPass {
    let epoch = this.#epoch;
    let reported: BreakerOutcome | undefined;
    return {
      ok: true,
      probe,
      settle: (outcome) => {
        if (reported !== undefined && !(reported === 'succeeded' && outcome === 'failed')) return;
        const isFirst = reported === undefined;
        reported = outcome;
        if (epoch !== this.#epoch) return;
        if (probe && isFirst) this.#settleProbe(outcome);
        else this.#count(outcome, isFirst);
        // A probe that closed the breaker belongs to the new epoch.
        if (outcome === 'succeeded') epoch = this.#epoch;
      },
    };
  }

  #settleProbe(outcome: BreakerOutcome): void {
    if (outcome === 'abandoned') {
      this.#untilMs = this.#clock.monotonicMs();
      this.#moved('freed');
    } else if (outcome === 'failed') this.#open();
    else {
      this.reset();
      this.#count('succeeded', true);
    }
  }

  #count(outcome: BreakerOutcome, isFirst: boolean): void {
    if (outcome === 'abandoned') return;
    const window = this.#window;
    window.advance(this.#clock.monotonicMs());
    window.add(isFirst ? 1 : 0, outcome === 'failed' ? 1 : 0);
    if (outcome !== 'failed' || window.failures < MIN_FAILURES) return;
    if (window.failures >= FAILURE_RATIO * window.requests) this.#open();
  }

  #open(): void {
    this.applyOpen(OPEN_MS);
    this.#moved('opened');
  }
}

/** Counts of the last `STEPS` steps of time, with running sums. */
class Window {
  requests = 0;
  failures = 0;
  readonly #requests = new Int32Array(STEPS);
  readonly #failures = new Int32Array(STEPS);
  /** The number of the current step, counted from the clock's zero. */
  #step = 0;

  /** Drops what has left the window: at most `STEPS` steps, however long it was idle. */
  advance(nowMs: number): void {
    const step = Math.floor(nowMs / STEP_MS);
    if (step - this.#step >= STEPS) this.clear();
    else {
      for (let passed = this.#step + 1; passed <= step; passed += 1) this.#drop(passed % STEPS);
    }
    this.#step = Math.max(this.#step, step);
  }

  add(requests: number, failures: number): void {
    const slot = this.#step % STEPS;
    this.#requests[slot]! += requests;
    this.#failures[slot]! += failures;
    this.requests += requests;
    this.failures += failures;
  }

  clear(): void {
    this.#requests.fill(0);
    this.#failures.fill(0);
    this.requests = 0;
    this.failures = 0;
  }

  #drop(slot: number): void {
    this.requests -= this.#requests[slot]!;
    this.failures -= this.#failures[slot]!;
    this.#requests[slot] = 0;
    this.#failures[slot] = 0;
  }
}
