/** Finished requests on their way to whoever watches them; nobody watching costs nothing. */
import type { LedgerRow } from '../../stages/ledger/row.ts';

export type RowListener = (row: LedgerRow) => void;

export interface LiveRequests {
  add(row: LedgerRow): void;
  /** Calls `listener` with every row from now on; the returned function ends that. */
  watch(listener: RowListener): () => void;
}

export function createLiveRequests(): LiveRequests {
  const listeners = new Set<RowListener>();
  return {
    add(row) {
      for (const listener of listeners) listener(row);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
