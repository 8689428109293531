/**
 * Limits of keys and projects that several proxies hold together. Each proxy keeps accounts of its
 * own; what all of them use is known where they share, and is judged and taken there in one step.
 */
import type { Owner } from './owners.ts';
import type { Account } from './sessions.ts';
import type { SpendingNote } from './spending.ts';

/** One account of a request, as it is to be judged. Amounts in nano-dollars. */
export interface SharedAccount {
  readonly owner: Owner;
  readonly name: string;
  /** The name of the period, and when it ends. */
  readonly period: string;
  readonly untilMs: number;
  /** What this proxy uses without what it asks for now; counts where the others have not heard of it yet. */
  readonly ownUsed: number;
  /** `null`: the amount is added whatever is used. */
  readonly limit: number | null;
}

/** What all proxies used of each account before, and which limit the amount would pass; nothing was added then. */
export interface Taken {
  readonly used: readonly number[];
  /** The index of the account. */
  readonly over: number | undefined;
}

export interface SharedSpending {
  /**
   * Adds `amount` to all accounts, unless it would pass a limit. Undefined where nobody answers: then
   * this proxy goes by what it knows, and the others hear of it with the next. Never rejects.
   */
  take(accounts: readonly SharedAccount[], amount: number): Promise<Taken | undefined>;
}

/** One of a request's limits that is held together, with this proxy's own account. */
export interface SharedLimit extends Omit<SharedAccount, 'ownUsed' | 'limit'> {
  readonly account: Account;
  readonly scope: SpendingNote['scope'];
  readonly limit: number;
}

/** The same as it is asked for; `isFree` lets it pass. */
export function toSharedAccount(of: SharedLimit, isFree: boolean): SharedAccount {
  const { owner, name, period, untilMs, account, limit } = of;
  // What is asked for, by this request and others, and not answered yet, is added by its answer.
  const ownUsed = account.spent + account.held - (account.pending ?? 0);
  return { owner, name, period, untilMs, ownUsed, limit: isFree ? null : limit };
}

/** What is found out together of a request: the limit that it would pass, or those that are nearly used. */
export interface SharedVerdict {
  readonly over?: SpendingNote;
  readonly near: readonly SpendingNote[];
}
