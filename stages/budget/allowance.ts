/** Permissions to pass a limit once, given ahead by an operator. */
import type { Clock } from '../../engine/index.ts';

export interface Allowances {
  add(): void;
  /** True if there is one to take. */
  isAny(): boolean;
  /** Takes one; false if there is none. */
  use(): boolean;
}

/** A permission that nobody used within this time was meant for something that did not happen. */
const VALID_MS = 600_000;

/** No permissions yet; `clock` is only asked for monotonic time. */
export function createAllowances(clock: Clock): Allowances {
  let expiresMs: number[] = [];
  const forget = (): void => {
    if (expiresMs.length > 0)
      expiresMs = expiresMs.filter((untilMs) => untilMs > clock.monotonicMs());
  };
  return {
    add() {
      expiresMs.push(clock.monotonicMs() + VALID_MS);
    },
    isAny() {
      forget();
      return expiresMs.length > 0;
    },
    use() {
      forget();
      return expiresMs.shift() !== undefined;
    },
  };
}
