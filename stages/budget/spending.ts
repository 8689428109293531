/**
 * What is asked of the spending guard, and what it answers. Amounts are whole nano-dollars, for
 * the scope `tokens` whole tokens.
 */

import type { ReadSpentBefore } from './recall.ts';

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

/** What a granted request holds, until it is settled or released. The first of the two counts. */
export interface Reservation {
  /** The limit for which `change` would refuse now; moves nothing and uses up no allowance. */
  refuses(estimate: Estimate): SpendingNote | undefined;
  /** Asks to spend `estimate` in place of what is held; the limit that it would pass, if it would and was not let through. */
  change(estimate: Estimate): SpendingNote | undefined;
  /** Ends with the real cost; `null` where it is unknown, which counts nothing and is noted. */
  settle(costNanoUsd: number | null, tokens?: number): void;
  /** Ends with its own estimate: it was answered, and the usage is unknown. */
  settleUnmeasured(): void;
  /** Ends without any cost: the request was not sent, or answered from what was kept. */
  release(): void;
}

export type Grant =
  | {
      readonly granted: true;
      readonly reservation: Reservation;
      readonly warnings: readonly SpendingNote[];
      /** True if a limit was passed because it was allowed once. */
      readonly allowedOnce: boolean;
    }
  | { readonly granted: false; readonly note: SpendingNote };

/** What `/health` shows. Amounts in nano-dollars. */
export interface SpendingView {
  readonly enabled: boolean;
  readonly limits: Readonly<Record<SpendingScope, number | null>>;
  /** The UTC day, `YYYY-MM-DD`. */
  readonly day: string;
  readonly spentTodayNanoUsd: number;
  readonly heldNanoUsd: number;
  readonly tokensToday: number;
  /** How much of the day's limit is left, 0 to 100, of the narrower one; `null` without any. */
  readonly dayLeftPercent: number | null;
  /** Why it is not known what was spent before the start; undefined where it is. */
  readonly unreadable: string | undefined;
  /** Since the start: requests with a warning, blocked, let through once, and of unknown price. */
  readonly warned: number;
  readonly blocked: number;
  readonly allowedOnce: number;
  readonly unpriced: number;
}

export interface SpendingGuard {
  /** What `reserve` would say, without holding anything and without using an allowance. */
  check(request: SpendingRequest): SpendingVerdict;
  /** Asks to send a request; `allowOnce` lets it pass its limits. What is granted must be settled or released. */
  reserve(request: SpendingRequest, allowOnce?: boolean): Grant;
  /** Lets the next request that would be blocked pass, for ten minutes at most: the command line's `allow`. */
  allowNext(): void;
  /** Adds to the day what nothing was reserved for, or what it has cost before this process began. */
  count(costNanoUsd: number, tokens: number): void;
  /** Adds what a session has cost before this process began. */
  countSession(session: string, costNanoUsd: number): void;
  /** From where `known` gets what was spent before this process began; without it nothing was. */
  recallFrom(read: ReadSpentBefore): void;
  /** Reads it, unless that was done; resolves when that has ended in one way or the other. */
  recall(): Promise<void>;
  /**
   * Undefined when every limit that is set can be judged; until then a promise that is fulfilled
   * when they can. Rejects with `unavailable` where what was spent before cannot be read.
   */
  known(): Promise<void> | undefined;
  configure(settings: SpendingSettings): void;
  view(): SpendingView;
}
