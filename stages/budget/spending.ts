/**
 * The requests to the spending guard, and its responses. Amounts are whole nano-dollars, or whole
 * tokens for the scope `tokens`.
 */

import type { OwnerLimits, Spender } from './owners.ts';

export interface SpendingSettings {
  readonly enabled: boolean;
  /** Limits in nano-dollars; `null` for none. */
  readonly perRequestNanoUsd: number | null;
  readonly perSessionNanoUsd: number | null;
  readonly perDayNanoUsd: number | null;
  readonly perMonthNanoUsd: number | null;
  /** By project name. */
  readonly projects: ReadonlyMap<string, OwnerLimits>;
  /** Input and output tokens per day, including cached ones; `null` for no limit. */
  readonly perDayTokens: number | null;
  /** Percentage of a limit from which on to warn, 1 to 100. */
  readonly warnPercent: number;
}

export type SpendingScope =
  | 'request'
  | 'session'
  | 'day'
  | 'month'
  | 'tokens'
  | 'key_day'
  | 'key_month'
  | 'project_day'
  | 'project_month';

/**
 * A limit that applies to a request. Amounts are in nano-dollars, or in tokens for the scope
 * `tokens`.
 */
export interface SpendingNote {
  readonly scope: SpendingScope;
  readonly limit: number;
  /** Spent and reserved before this request; 0 for the scope `request`. */
  readonly used: number;
  readonly estimate: number;
  /** The key label or the project that the limit belongs to; undefined for the proxy's. */
  readonly name?: string | undefined;
  /** True if the cost of the request cannot be predicted: `estimate` is meaningless. */
  readonly isUnpredictable?: true;
  /** When it resets, in milliseconds since the epoch; undefined for request and session. */
  readonly untilMs?: number | undefined;
}

export type SpendingVerdict =
  | { readonly verdict: 'ok' }
  /** The limits that have reached the warn percentage. */
  | { readonly verdict: 'warn'; readonly notes: readonly SpendingNote[] }
  | { readonly verdict: 'blocked'; readonly note: SpendingNote };

export interface SpendingRequest {
  /** Its likely cost; `null` if the price is unknown. */
  readonly estimateNanoUsd: number | null;
  /** Likely input and output tokens; 0 by default. */
  readonly estimateTokens?: number;
  /** True for a request whose cost is known only afterwards: every limit in dollars blocks it. */
  readonly isUnpredictable?: true;
  /** The account it is added to: a conversation's or a client session's id. */
  readonly session: string;
  /** Its other owners; none by default. */
  readonly spender?: Spender;
}

/** The estimated use of a request. */
export type Estimate = Pick<
  SpendingRequest,
  'estimateNanoUsd' | 'estimateTokens' | 'isUnpredictable'
>;
