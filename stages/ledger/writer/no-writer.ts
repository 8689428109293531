/**
 * The writer of a ledger that is not stored: for graphs that are only inspected or replayed. No
 * thread is started.
 */
import type { LedgerWriter } from './writer-contract.ts';

const NOTHING = Object.freeze({
  written: 0,
  queued: 0,
  dropped: 0,
  problem: undefined,
  replaced: undefined,
});

export const noLedgerWriter: LedgerWriter = Object.freeze<LedgerWriter>({
  record: () => undefined,
  ready: () => Promise.resolve(),
  flush: () => Promise.resolve(),
  prune: () => Promise.resolve(0),
  close: () => Promise.resolve(),
  stats: () => NOTHING,
  fileState: () => Promise.resolve('kept' as const),
});
