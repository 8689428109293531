/** What a read-only connection refuses, whatever the database. */
import { SvcError } from '../../engine/index.ts';

export async function refuseTransaction(): Promise<void> {
  throw new SvcError('internal', 'The ledger is read-only here; only its writer has transactions');
}

/** Kysely requires the method; rows come in one message. */
export function refuseStream(): AsyncIterableIterator<never> {
  const error = new SvcError('internal', 'The ledger is read in whole results, not in streams');
  return {
    next: () => Promise.reject(error),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
