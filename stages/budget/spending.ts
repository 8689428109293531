/**
 * What is asked of the spending guard, and what it answers. Amounts are whole nano-dollars, for
 * the scope `tokens` whole tokens.
 */

export interface SpendingSettings {
  readonly enabled: boolean;
  /** Limits in nano-dollars; `null` for none. */
  readonly perRequestNanoUsd: number | null;
  readonly perSessionNanoUsd: number | null;
  readonly perDayNanoUsd: number | null;
  /** Input and output tokens a day, cached ones included; `null` for no limit. */
  readonly perDayTokens: number | null;
  /** From which part of a limit on to warn, 1 to 100. */
  readonly warnPercent: number;
}

export type SpendingScope = 'request' | 'session' | 'day' | 'tokens';

/** A limit that a request touches. Amounts in nano-dollars, for the scope `tokens` in tokens. */
export interface SpendingNote {
  readonly scope: SpendingScope;
  readonly limit: number;
  /** Spent and held before this request; 0 for the scope `request`. */
  readonly used: number;
  readonly estimate: number;
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
  /** Whose spending it adds to: a conversation's or a client session's id. */
  readonly session: string;
}

/** What a request is estimated to take. */
export type Estimate = Pick<SpendingRequest, 'estimateNanoUsd' | 'estimateTokens'>;
