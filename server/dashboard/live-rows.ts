/** Publishes finished requests to watchers; costs nothing without any. */
import type { LedgerRow } from '../../stages/ledger/row.ts';

export type RowListener = (row: LedgerRow) => void;

export type LiveRequests = ReturnType<typeof createLiveRequests>;

export function createLiveRequests() {
  const listeners = new Set<RowListener>();
  return {
    add(row: LedgerRow): void {
      for (const listener of listeners) listener(row);
    },
    /** Calls `listener` with every row from now on; the returned function stops it. */
    watch(listener: RowListener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
