/** Permissions to exceed a limit once, granted in advance by an operator. */
import type { Clock } from '../../engine/index.ts';

export type Allowances = ReturnType<typeof createAllowances>;

/** Permissions expire, because one that is unused for this long was meant for another request. */
const VALID_MS = 600_000;

/** Creates the store without permissions. Only the monotonic time of `clock` is used. */
export function createAllowances(clock: Clock) {
  let expiresMs: number[] = [];
  const forget = (): void => {
    if (expiresMs.length > 0)
      expiresMs = expiresMs.filter((untilMs) => untilMs > clock.monotonicMs());
  };
  return {
    add(): void {
      expiresMs.push(clock.monotonicMs() + VALID_MS);
    },
    /** Returns true if there is one to take. */
    isAny(): boolean {
      forget();
      return expiresMs.length > 0;
    },
    /** Takes one; returns false if there is none. */
    use(): boolean {
      forget();
      return expiresMs.shift() !== undefined;
    },
  };
}
