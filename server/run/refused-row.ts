/** The row of a request that was turned away, or taken back by its client, before it got a run. */
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
  /** The label of the key that it came with. */
  readonly keyLabel: string | null;
  readonly project: string | null;
  /** In milliseconds; left out where the request was refused at once, which says nothing of latency. */
  readonly latencyMs?: number;
}

/** Its row; a request without an error was taken back by its client. */
export function refusedRow(refused: Refused, error: SvcError | undefined): LedgerRow {
  return ledgerRow({
    ...refused,
    outcome: error === undefined ? 'cancelled' : 'error',
    status: error === undefined ? null : errorStatus(error),
    errorKind: error?.kind ?? null,
    errorCode: error?.code ?? null,
  });
}
