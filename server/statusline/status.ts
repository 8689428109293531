/**
 * What the proxy leaves in its home for `svc statusline`: figures of sessions, of today, and the
 * windows of plans. A statusline is drawn anew after every message, in a fraction of a second, and has to
 * show something while the proxy is busy, starts or is gone; so it reads a file and asks nobody.
 */
import { join } from 'node:path';
import type { LimitJson } from '../facts/limits.ts';

export const STATUS_FORMAT = 1;

/** Sums over requests, those of `SUMMED` in `publish.ts`. */
export type KeptSums = Readonly<Record<string, number>>;

/** Requests of one session, or of one day. */
export interface SessionStatus {
  readonly requests: number;
  /** In dollars; null where no price is known. */
  readonly cost_usd: number | null;
  /** Likewise, after what svc added. */
  readonly saved_usd: number | null;
  readonly saved_tokens: number;
  /** Share of the input that providers read from their prompt cache, 0 to 1; null where none reported it. */
  readonly cache_ratio: number | null;
  /** Where the credential that it used last has windows: of which provider, and its name there. */
  readonly provider: string | null;
  readonly key: string | null;
  /** What a proxy that is started again goes on from. */
  readonly sums: KeptSums;
}

export interface StatusJson {
  readonly format: typeof STATUS_FORMAT;
  /** The proxy's process; null once it has ended. */
  readonly pid: number | null;
  /** The newest last. */
  readonly sessions: Readonly<Record<string, SessionStatus>>;
  readonly today: SessionStatus & { readonly day: string };
  readonly limits: readonly LimitJson[];
}

/** Where it is in a home folder. */
export function statusPath(home: string): string {
  return join(home, 'statusline.json');
}
