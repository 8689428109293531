/** Faults in work that is done after an answer: nobody waits for its result, and it ends nothing. */
import type { Log } from './log.ts';

export type AfterwardsFaults = ReturnType<typeof createAfterwardsFaults>;

export function createAfterwardsFaults(log: Pick<Log, 'error'>) {
  let count = 0;
  return {
    /** Since the start. */
    get count(): number {
      return count;
    },
    /** Logs a fault and counts it. */
    note(thrown: unknown): void {
      count += 1;
      log.error('work after an answer failed', { cause: thrown });
    },
  };
}
