/**
 * Whether a provider should be tried first. An unhealthy one is skipped while there is a fallback,
 * and still called if there is none: for a single provider, a slip must not become an outage.
 *
 * | state     | event                               | next      | also                              |
 * |-----------|-------------------------------------|-----------|-----------------------------------|
 * | healthy   | success                             | healthy   | the failure streak is reset       |
 * | healthy   | failure, fewer than 3 in a row      | healthy   |                                   |
 * | healthy   | failure, the third in a row or more | unhealthy | `down`, for 30 s                  |
 * | healthy   | no key left                         | unhealthy | `rate_limited` or `auth`, 30 s    |
 * | no key    | a key may be used again             | healthy   |                                   |
 * | unhealthy | recovery check, 30 s after          | healthy   | the failure streak is kept        |
 * | unhealthy | success                             | healthy   | the failure streak is reset       |
 * | unhealthy | failure, no key left                | unhealthy | the 30 s are not extended         |
 * | no key    | failure, the third in a row or more | unhealthy | `down` is reported from now on    |
 * | any       | forced `healthy`                    | healthy   | the failure streak is reset       |
 * | any       | forced `unhealthy`                  | unhealthy | until forced `healthy`            |
 *
 * The specification's section 3 defines the states; the threshold of three consecutive failures is
 * ours, since a conversation that moves to a fallback loses its provider's prompt cache.
 */
import type { Clock } from '../../engine/index.ts';
import type { BreakerOutcome } from './breaker.ts';

export type HealthState = 'healthy' | 'unhealthy';

/** Why it is unhealthy; `forced` by an operator. */
export type UnhealthyReason = 'down' | 'rate_limited' | 'auth' | 'forced';

export interface HealthView {
  readonly state: HealthState;
  /** Undefined while healthy. */
  readonly reason: UnhealthyReason | undefined;
  readonly failuresInRow: number;
  /** Milliseconds until the recovery check; 0 while healthy, Infinity if forced. */
  readonly recoversInMs: number;
}

/** Returns the reason of an unhealthy provider in words. */
export function unhealthyBecause({ reason, failuresInRow }: HealthView): string {
  switch (reason) {
    case 'rate_limited':
      return 'unhealthy: all of its keys are rate limited';
    case 'auth':
      return 'unhealthy: all of its keys were refused';
    case 'forced':
      return 'set to unhealthy by hand';
    default:
      return `unhealthy: ${failuresInRow} requests in a row failed`;
  }
}

/** Time until an unhealthy provider is eligible again. */
const RECOVERY_MS = 30_000;
/** Consecutive failures that make it unhealthy. */
const MAX_IN_ROW = 3;

/** Health in this process's memory; `clock` is only used for monotonic time, and no timer runs. */
export class Health {
  readonly #clock: Clock;
  #inRow = 0;
  #reason: UnhealthyReason = 'down';
  /** Unhealthy before this monotonic time. */
  #untilMs = -Infinity;
  readonly #untilKeyMs: () => number;

  /**
   * `untilKeyMs` returns the milliseconds until one of its configured keys may be used; 0 for now.
   */
  constructor(clock: Clock, untilKeyMs: () => number = () => Infinity) {
    this.#clock = clock;
    this.#untilKeyMs = untilKeyMs;
  }

  isHealthy(): boolean {
    // Most providers were never unhealthy: for them the clock is not read.
    return this.#untilMs === -Infinity || this.#recoversInMs() === 0;
  }

  /**
   * The same for a request with the client's own key, to which the state of configured keys does
   * not apply.
   */
  isUp(): boolean {
    return this.isHealthy() || this.#isOutOfKeys();
  }

  /** Reports how an attempt went; `abandoned` changes nothing. */
  settle(outcome: BreakerOutcome): void {
    if (outcome === 'abandoned') return;
    if (outcome === 'succeeded') {
      this.#inRow = 0;
      if (this.#untilMs !== Infinity) this.#untilMs = -Infinity;
      return;
    }
    this.#inRow += 1;
    if (this.#inRow >= MAX_IN_ROW) this.#mark('down');
  }

  /** Reports that no configured key is left: all cooling, or all refused. */
  outOfKeys(reason: 'rate_limited' | 'auth'): void {
    this.#mark(reason);
  }

  /** Sets the state at an operator's command, from `provider-force-health`. */
  force(state: HealthState): void {
    this.#inRow = 0;
    this.#untilMs = state === 'healthy' ? -Infinity : Infinity;
    if (state === 'unhealthy') this.#reason = 'forced';
  }

  view(): HealthView {
    const isHealthy = this.isHealthy();
    return {
      state: isHealthy ? 'healthy' : 'unhealthy',
      reason: isHealthy ? undefined : this.#reason,
      failuresInRow: this.#inRow,
      recoversInMs: isHealthy ? 0 : this.#recoversInMs(),
    };
  }

  /**
   * Returns the time to the recovery check or, if only keys are missing, to the first usable key,
   * whichever is earlier.
   */
  #recoversInMs(): number {
    const leftMs = Math.max(0, this.#untilMs - this.#clock.monotonicMs());
    return leftMs > 0 && this.#isOutOfKeys() ? Math.min(leftMs, this.#untilKeyMs()) : leftMs;
  }

  #isOutOfKeys(): boolean {
    return this.#reason === 'auth' || this.#reason === 'rate_limited';
  }

  #mark(reason: UnhealthyReason): void {
    if (!this.isHealthy()) {
      if (reason === 'down' && this.#isOutOfKeys()) this.#reason = reason;
      return;
    }
    this.#reason = reason;
    this.#untilMs = this.#clock.monotonicMs() + RECOVERY_MS;
  }
}
