/**
 * Deletes old data: ledger rows after `metrics.retention_days`. Their hourly sums are kept, so that
 * totals cover all time. Logs handle their own files.
 */
import { toSvcError } from '../../engine/index.ts';
import type { Config } from '../config/config.ts';
import type { ServerServices } from '../services.ts';

const DAY_MS = 86_400_000;
/** After a start, requests come first. */
export const FIRST_MS = 5000;

export interface RetentionOptions {
  readonly config: () => Config;
  readonly services: Pick<ServerServices, 'clock' | 'ledgerFile' | 'log'>;
}

/** Runs soon after the start, and then once a day. The returned function stops it. */
export function keepRetention({ config, services }: RetentionOptions): () => void {
  const { clock, ledgerFile, log } = services;
  let cancel = clock.after(FIRST_MS, prune);

  function prune(): void {
    cancel = clock.after(DAY_MS, prune);
    const { retentionDays } = config().metrics;
    void ledgerFile
      .prune(firstKeptMs(clock.wallMs(), retentionDays))
      .then((rows) => {
        if (rows > 0) log.info('old requests were deleted', { rows, retentionDays });
      })
      .catch((thrown: unknown) =>
        log.error(`old requests cannot be deleted: ${toSvcError(thrown).message}`, {
          cause: thrown,
        }),
      );
  }

  return () => cancel();
}

/** Returns the start of the oldest UTC day kept: that many whole days before today. */
function firstKeptMs(nowMs: number, retentionDays: number): number {
  return (Math.floor(nowMs / DAY_MS) - retentionDays) * DAY_MS;
}
