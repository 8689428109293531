/** Permissions to pass a limit once, given ahead by an operator. */
import type { Clock } from '../../engine/index.ts';

export interface Allowances {
  add(): void;
  /** Takes one; false if there is none. */
  use(): boolean;
}

/** A permission that nobody used within this time was meant for something that did not happen. */
const VALID_MS = 600_000;

/** No permissions yet; `clock` is only asked for monotonic time. */
export function createAllowances(clock: Clock): Allowances {
  let expiresMs: number[] = [];
  return {
    add() {
      expiresMs.push(clock.monotonicMs() + VALID_MS);
    },
    use() {
      if (expiresMs.length === 0) return false;
      expiresMs = expiresMs.filter((untilMs) => untilMs > clock.monotonicMs());
      return expiresMs.shift() !== undefined;
    },
  };
}
