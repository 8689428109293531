/**
 * Limits of keys and projects that several proxies share. Each proxy keeps accounts of its own; the
 * shared state knows the usage of all, and checks and reserves in one step.
 */
import type { Owner } from './owners.ts';
import type { Account } from './sessions.ts';
import type { SpendingNote } from './spending.ts';

/** One account of a request, to be checked. Amounts in nano-dollars. */
export interface SharedAccount {
  readonly owner: Owner;
  readonly name: string;
  /** The id of the period, and when it ends. */
  readonly period: string;
  readonly untilMs: number;
  /** This proxy's usage without the current request, in case the others do not know it yet. */
  readonly ownUsed: number;
  /** `null`: the amount is added unconditionally. */
  readonly limit: number | null;
}

/**
 * The usage of each account by all proxies before this request, and the limit that it would exceed,
 * if any; then nothing was added.
 */
export interface SharedUsage {
  readonly used: readonly number[];
  /** Index of the account whose limit would be exceeded. */
  readonly over: number | undefined;
}

export interface SharedSpending {
  /**
   * Adds `amount` to all accounts, unless it would exceed a limit. Returns undefined if there is no
   * response: this proxy then decides on its own, and reports its usage with the next call. Never
   * rejects.
   */
  take(accounts: readonly SharedAccount[], amount: number): Promise<SharedUsage | undefined>;
}

/** One of a request's shared limits, with this proxy's own account. */
export interface SharedLimit extends Omit<SharedAccount, 'ownUsed' | 'limit'> {
  readonly account: Account;
  readonly scope: SpendingNote['scope'];
  readonly limit: number;
}

/** Converts a limit for a request; with `isFree` it does not block. */
export function toSharedAccount(of: SharedLimit, isFree: boolean): SharedAccount {
  const { owner, name, period, untilMs, account, limit } = of;
  // Amounts that were requested but not confirmed yet are added when their own responses arrive.
  const ownUsed = account.spent + account.held - (account.pending ?? 0);
  return { owner, name, period, untilMs, ownUsed, limit: isFree ? null : limit };
}

/**
 * The shared verdict on a request: the limit that it would exceed, or those that are nearly used
 * up.
 */
export interface SharedVerdict {
  readonly over?: SpendingNote;
  readonly near: readonly SpendingNote[];
}
