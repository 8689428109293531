/**
 * The ledger's writer as others see it. `record` copies a row into a batch and
 * returns; a thread does all that touches the disk. The queue is bounded: when
 * the disk stays away, rows are dropped and counted, and requests go on.
 */
import { ThreadedWriter } from './threaded-writer.ts';
import type { LedgerWriter, LedgerWriterOptions } from './writer-contract.ts';

/** Starts the writer thread for a ledger file. */
export function createLedgerWriter(options: LedgerWriterOptions): LedgerWriter {
  return new ThreadedWriter(options);
}
