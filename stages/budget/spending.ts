/**
 * What is asked of the spending guard, and what it answers. Amounts are whole nano-dollars, for
 * the scope `tokens` whole tokens.
 */

import type { OwnerLimits, Spender } from './owners.ts';

export interface SpendingSettings {
  readonly enabled: boolean;
  /** Limits in nano-dollars; `null` for none. */
  readonly perRequestNanoUsd: number | null;
  readonly perSessionNanoUsd: number | null;
  readonly perDayNanoUsd: number | null;
  readonly perMonthNanoUsd: number | null;
  /** By the name of the project. */
  readonly projects: ReadonlyMap<string, OwnerLimits>;
  /** Input and output tokens a day, cached ones included; `null` for no limit. */
  readonly perDayTokens: number | null;
  /** From which part of a limit on to warn, 1 to 100. */
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

/** A limit that a request touches. Amounts in nano-dollars, for the scope `tokens` in tokens. */
export interface SpendingNote {
  readonly scope: SpendingScope;
  readonly limit: number;
  /** Spent and held before this request; 0 for the scope `request`. */
  readonly used: number;
  readonly estimate: number;
  /** The label of the key, or the project, whose limit it is; undefined for the proxy's. */
  readonly name?: string | undefined;
  /** What the request will cost cannot be foreseen: `estimate` says nothing. */
  readonly isUnforeseen?: true;
  /** When it starts again from zero, in milliseconds since the epoch; undefined for request and session. */
  readonly untilMs?: number | undefined;
}

export type SpendingVerdict =
  | { readonly verdict: 'ok' }
  /** The limits of which the warn percentage is reached. */
  | { readonly verdict: 'warn'; readonly notes: readonly SpendingNote[] }
  | { readonly verdict: 'blocked'; readonly note: SpendingNote };

export interface SpendingRequest {
  /** What it will cost in all likelihood; `null` where the price is unknown. */
  readonly estimateNanoUsd: number | null;
  /** Input and output in all likelihood; 0 by default. */
  readonly estimateTokens?: number;
  /** True of what has a price and cannot be priced before it is done: it passes no limit in dollars. */
  readonly isUnforeseen?: true;
  /** Whose spending it adds to: a conversation's or a client session's id. */
  readonly session: string;
  /** Whose it is besides; nobody's by default. */
  readonly spender?: Spender;
}

/** What a request is estimated to take. */
export type Estimate = Pick<SpendingRequest, 'estimateNanoUsd' | 'estimateTokens' | 'isUnforeseen'>;
