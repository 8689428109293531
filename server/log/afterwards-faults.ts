/** Faults in work that is done after an answer: nobody waits for its result, and it ends nothing. */
import type { Log } from './log.ts';

export interface AfterwardsFaults {
  /** Since the start. */
  readonly count: number;
  /** Logs a fault and counts it. */
  note(thrown: unknown): void;
}

export function createAfterwardsFaults(log: Pick<Log, 'error'>): AfterwardsFaults {
  let count = 0;
  return {
    get count() {
      return count;
    },
    note(thrown) {
      count += 1;
      log.error('work after an answer failed', { cause: thrown });
    },
  };
}
