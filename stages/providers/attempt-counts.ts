/**
 * How the attempts at one provider ended in the last hour. For display only: nothing depends on it.
 */
import type { Clock } from '../../engine/index.ts';

export type AttemptCounts = ReturnType<typeof createAttemptCounts>;

export interface AttemptCountsView {
  /** Since the start; 0 for a provider that was never called. */
  readonly everTried: number;
  /** In the last hour. */
  readonly tried: number;
  /** Of these, those after which the request moved elsewhere or failed. */
  readonly failed: number;
  /** Failures since the last attempt that did not fail. */
  readonly failedInRow: number;
  /** Requests of the last hour that were meant for it and answered by another provider. */
  readonly answeredByOthers: number;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

interface Minute {
  readonly minute: number;
  tried: number;
  failed: number;
  answeredByOthers: number;
}

/** `clock` is only used for monotonic time. */
export function createAttemptCounts(clock: Clock) {
  /** Oldest first; empty ones are left out. */
  const minutes: Minute[] = [];
  let everTried = 0;
  let failedInRow = 0;

  const now = () => Math.floor(clock.monotonicMs() / MINUTE_MS);

  function currentMinute(): Minute {
    const minute = now();
    forgetBefore(minute);
    const last = minutes.at(-1);
    if (last?.minute === minute) return last;
    const fresh = { minute, tried: 0, failed: 0, answeredByOthers: 0 };
    minutes.push(fresh);
    return fresh;
  }

  function forgetBefore(minute: number): void {
    while (minutes[0] !== undefined && minutes[0].minute <= minute - MINUTES) minutes.shift();
  }

  return {
    /** Records the end of an attempt. */
    ended(hasFailed: boolean): void {
      const minute = currentMinute();
      everTried += 1;
      minute.tried += 1;
      if (hasFailed) minute.failed += 1;
      failedInRow = hasFailed ? failedInRow + 1 : 0;
    },
    /** Records that another provider has answered a request meant for this one. */
    answeredByAnother(): void {
      currentMinute().answeredByOthers += 1;
    },
    view(): AttemptCountsView {
      forgetBefore(now());
      const sum = (of: (minute: Minute) => number) =>
        minutes.reduce((all, minute) => all + of(minute), 0);
      return {
        everTried,
        tried: sum(({ tried }) => tried),
        failed: sum(({ failed }) => failed),
        failedInRow,
        answeredByOthers: sum(({ answeredByOthers }) => answeredByOthers),
      };
    },
  };
}
