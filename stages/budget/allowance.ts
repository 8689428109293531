/** Permissions to pass a limit once, given ahead by an operator. */
import type { Clock } from '../../engine/index.ts';

export type Allowances = ReturnType<typeof createAllowances>;

/** A permission that nobody used within this time was meant for something that did not happen. */
const VALID_MS = 600_000;

/** No permissions yet; `clock` is only asked for monotonic time. */
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
    /** True if there is one to take. */
    isAny(): boolean {
      forget();
      return expiresMs.length > 0;
    },
    /** Takes one; false if there is none. */
    use(): boolean {
      forget();
      return expiresMs.shift() !== undefined;
    },
  };
}
