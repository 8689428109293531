/**
 * The file that the proxy writes for `svc statusline`: figures of sessions, of today, and plan
 * windows. A statusline is redrawn after every message, within a fraction of a second, and must
 * show something even while the proxy is busy, starting or stopped; so it only reads this file.
 */
import { join } from 'node:path';
import type { LimitJson } from '../facts/limits.ts';

export const STATUS_FORMAT = 1;

/** Sums over requests, those of `SUMMED` in `publish.ts`. */
export type KeptSums = Readonly<Record<string, number>>;

/** Requests of one session, or of one day. */
export interface SessionStatus {
  readonly requests: number;
  /** In dollars; null if no price is known. */
  readonly cost_usd: number | null;
  /** In dollars, after subtracting what svc added; null if no price is known. */
  readonly saved_usd: number | null;
  readonly saved_tokens: number;
  /**
   * Share of the input that providers read from their prompt cache, 0 to 1; null if none reported
   * it.
   */
  readonly cache_ratio: number | null;
  /** Provider and label of the last used credential, if it has plan windows. */
  readonly provider: string | null;
  readonly key: string | null;
  /** Sums that a restarted proxy continues from. */
  readonly sums: KeptSums;
}

export interface StatusJson {
  readonly format: typeof STATUS_FORMAT;
  /** Process id of the proxy; null once it has ended. */
  readonly pid: number | null;
  /** Newest last. */
  readonly sessions: Readonly<Record<string, SessionStatus>>;
  readonly today: SessionStatus & { readonly day: string };
  readonly limits: readonly LimitJson[];
}

/** Returns its path in a home folder. */
export function statusPath(home: string): string {
  return join(home, 'statusline.json');
}
