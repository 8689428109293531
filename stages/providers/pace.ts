/**
 * Limits a provider's requests per minute: `rate_limiting.<provider>.rpm`. In any 60 s at most
 * `rpm` requests start; the next one waits in a queue until the oldest of them is 60 s old.
 *
 * A rolling window instead of the usual two: an even pace (60 rpm = one a second) would delay the
 * small requests that agents send in twos and threes although the provider would take them, and a
 * token bucket lets nearly twice `rpm` through in a minute that begins with a full bucket. With the
 * window no request waits below the limit, and the limit holds however the provider counts its
 * minutes.
 *
 * | event                                         | then                                      |
 * |-----------------------------------------------|-------------------------------------------|
 * | entry, fewer than `rpm` started, empty queue  | starts at once                            |
 * | entry, its wait within bounds                 | waits in the queue                        |
 * | entry, the queue full or the wait too long    | RATELIMIT_002 with that wait              |
 * | the oldest start is 60 s old                  | the first in the queue starts             |
 * | a queued request is aborted                   | leaves; those after it move up            |
 */
import type { CancelSignal, Clock } from '../../engine/index.ts';
import { providerPaced } from '../model/errors.ts';

export interface PaceOptions {
  /** Requests that may start in any minute; at least 1. */
  readonly rpm: number;
  /** Maximum number of queued requests; default 100. */
  readonly maxWaiting?: number;
  /**
   * The longest wait in the queue, in milliseconds; default a minute, after which a place is free.
   */
  readonly maxWaitMs?: number;
}

const MINUTE_MS = 60_000;

interface Waiter {
  readonly sinceMs: number;
  readonly start: (waitedMs: number) => void;
}

/** A pace in this process's memory; `clock` provides monotonic time and at most one timer. */
export class Pace {
  readonly #clock: Clock;
  #options: Required<PaceOptions>;
  /** Start times of the last `rpm` requests, oldest at `#oldest`. */
  #starts: Float64Array;
  #oldest = 0;
  /** In order of arrival; a set removes any member in constant time. */
  readonly #line = new Set<Waiter>();
  #stopTimer: (() => void) | undefined;

  constructor(options: PaceOptions, clock: Clock) {
    this.#clock = clock;
    this.#options = complete(options);
    this.#starts = new Float64Array(this.#options.rpm).fill(-Infinity);
  }

  /**
   * Takes a place in the minute: returns 0 if there is one now, else a promise of the milliseconds
   * waited. Throws RATELIMIT_002 if the queue is full or too slow, and rejects with the signal's
   * reason if it aborts. A place taken is used up, whatever happens to the request.
   */
  enter(signal: CancelSignal): number | Promise<number> {
    const nowMs = this.#clock.monotonicMs();
    const waitMs = this.#waitOf(this.#line.size, nowMs);
    if (waitMs <= 0 && this.#line.size === 0) {
      this.#spend(nowMs);
      return 0;
    }
    const { maxWaiting, maxWaitMs } = this.#options;
    if (this.#line.size >= maxWaiting || waitMs > maxWaitMs) throw providerPaced(waitMs / 1000);
    return this.#stand(nowMs, signal);
  }

  /**
   * Applies another limit, from a reload; started requests stay counted, waiting ones keep waiting.
   */
  configure(options: PaceOptions): void {
    const before = this.#inOrder();
    this.#options = complete(options);
    const { rpm } = this.#options;
    this.#starts = new Float64Array(rpm).fill(-Infinity);
    this.#starts.set(before.slice(-rpm), Math.max(0, rpm - before.length));
    this.#oldest = 0;
    this.#serve();
  }

  view() {
    const sinceMs = this.#clock.monotonicMs() - MINUTE_MS;
    const started = this.#starts.reduce((sum, startMs) => sum + (startMs > sinceMs ? 1 : 0), 0);
    // `started` in the last 60 s, counted up to the limit.
    return { rpm: this.#options.rpm, started, waiting: this.#line.size };
  }

  /**
   * Returns how long a request with `ahead` others before it has to wait; not above 0 if it need
   * not.
   */
  #waitOf(ahead: number, nowMs: number): number {
    const { rpm } = this.#options;
    const laps = Math.floor(ahead / rpm);
    const freedBy = this.#starts[(this.#oldest + ahead) % rpm]! + MINUTE_MS;
    // Those ahead that only start now free their own places a full minute later.
    return Math.max(freedBy - nowMs, 0) + laps * MINUTE_MS;
  }

  #spend(nowMs: number): void {
    this.#starts[this.#oldest] = nowMs;
    this.#oldest = (this.#oldest + 1) % this.#options.rpm;
  }

  #stand(sinceMs: number, signal: CancelSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const leave = (): void => {
        this.#line.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        sinceMs,
        start(waitedMs) {
          signal.removeEventListener('abort', leave);
          resolve(waitedMs);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(waiter);
      this.#serve();
    });
  }

  /** Starts every request that may start, and sets the timer for the next. */
  #serve(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const waiter of this.#line) {
      const nowMs = this.#clock.monotonicMs();
      const waitMs = this.#waitOf(0, nowMs);
      if (waitMs > 0) {
        this.#stopTimer = this.#clock.after(Math.ceil(waitMs), () => this.#serve());
        return;
      }
      this.#line.delete(waiter);
      this.#spend(nowMs);
      waiter.start(nowMs - waiter.sinceMs);
    }
  }

  #inOrder(): Float64Array {
    const ordered = new Float64Array(this.#starts.length);
    ordered.set(this.#starts.subarray(this.#oldest));
    ordered.set(this.#starts.subarray(0, this.#oldest), this.#starts.length - this.#oldest);
    return ordered;
  }
}

function complete(options: PaceOptions): Required<PaceOptions> {
  return {
    rpm: Math.max(1, Math.floor(options.rpm)),
    maxWaiting: options.maxWaiting ?? 100,
    maxWaitMs: options.maxWaitMs ?? MINUTE_MS,
  };
}
