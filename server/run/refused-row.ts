/** The ledger row of a request that was rejected, or cancelled by its client, before its run. */
import type { SvcError } from '../../engine/index.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { errorStatus } from '../http/error-response.ts';

export interface Refused {
  readonly id: string;
  /** Wall time, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly endpoint: string;
  /** The name of this machine. */
  readonly node: string | null;
  /** Label of the key that the request carried. */
  readonly keyLabel: string | null;
  readonly project: string | null;
  /**
   * In milliseconds; absent if the request was rejected at once, which says nothing about latency.
   */
  readonly latencyMs?: number;
}

/** Returns the row; a request without an error was cancelled by its client. */
export function refusedRow(refused: Refused, error: SvcError | undefined): LedgerRow {
  return ledgerRow({
    ...refused,
    outcome: error === undefined ? 'cancelled' : 'error',
    status: error === undefined ? null : errorStatus(error),
    errorKind: error?.kind ?? null,
    errorCode: error?.code ?? null,
  });
}
