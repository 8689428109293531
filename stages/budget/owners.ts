/**
 * The spending of the whole proxy in a UTC month, and of each proxy key and each project in a UTC
 * day and month. A period is part of the account's id: a new day begins with new accounts.
 */
import type { Account } from './sessions.ts';

/** The owner of an account. `proxy` is everything; its name is empty. */
export type Owner = 'proxy' | 'key' | 'project';
export type Period = 'day' | 'month';

/** Spending limits of an owner, in nano-dollars; `null` for no limit. */
export interface OwnerLimits {
  readonly perDayNanoUsd: number | null;
  readonly perMonthNanoUsd: number | null;
}

/** Returns true if one of them is set. */
export function hasLimit<L extends Partial<OwnerLimits>>(limits: L | undefined): limits is L {
  return (limits?.perDayNanoUsd ?? limits?.perMonthNanoUsd ?? null) !== null;
}

/** The owners of a request's spending, besides the proxy. */
export interface Spender {
  /** The key that the request came with, by its label, and its limits. */
  readonly key?: OwnerLimits & { readonly label: string };
  readonly project?: string | undefined;
}

/** An owner's spending in the period with this id. */
export interface OwnerSpending {
  readonly owner: Owner;
  readonly name: string;
  readonly period: string;
  readonly costNanoUsd: number;
}

/** Maximum number of accounts without a limit: clients can invent projects. */
const MAX_UNLIMITED = 10_000;

/** A UTC day. */
export const DAY_MS = 86_400_000;

/** Returns the id of the period of `atMs`: `2026-11-26` or `2026-11`. */
export function periodName(period: Period, atMs: number): string {
  return new Date(atMs).toISOString().slice(0, period === 'day' ? 10 : 7);
}

/** Returns the start of the period, in milliseconds since the epoch. */
export function periodStartMs(period: Period, atMs: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), period === 'day' ? at.getUTCDate() : 1);
}

/** Returns the start of the next period. */
export function periodEndMs(period: Period, atMs: number): number {
  const at = new Date(atMs);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return period === 'day'
    ? Date.UTC(year, month, at.getUTCDate() + 1)
    : Date.UTC(year, month + 1, 1);
}

export type Owners = ReturnType<typeof createOwners>;

/** Creates the accounts, none at first. */
export function createOwners() {
  const accounts = new Map<string, Account>();
  let today = 0;
  /** The periods of `today`: formatting a date takes longer than everything else here. */
  let names: Readonly<Record<Period, string>> = { day: '', month: '' };

  /** On a new day, drops the accounts of past periods, except those with reservations. */
  function turnDay(atMs: number): void {
    const day = Math.floor(atMs / DAY_MS);
    if (day === today) return;
    today = day;
    names = { day: periodName('day', atMs), month: periodName('month', atMs) };
    for (const [id, { held }] of accounts)
      if (held === 0 && !id.endsWith(`\0${names.day}`) && !id.endsWith(`\0${names.month}`))
        accounts.delete(id);
  }

  const idOf = (owner: Owner, name: string, period: string) => `${owner}\0${name}\0${period}`;

  return {
    /** Returns the id of the current period. */
    current(period: Period, atMs: number): string {
      turnDay(atMs);
      return names[period];
    },
    /** Returns an account if it exists. */
    peek: (owner: Owner, name: string, period: string): Account | undefined =>
      accounts.get(idOf(owner, name, period)),
    /**
     * Returns an account, created if necessary; past the maximum, those without a limit are not
     * stored.
     */
    open(owner: Owner, name: string, period: string, atMs: number, isLimited: boolean): Account {
      turnDay(atMs);
      const id = idOf(owner, name, period);
      const known = accounts.get(id);
      if (known !== undefined) return known;
      const account = { spent: 0, held: 0 };
      if (isLimited || accounts.size < MAX_UNLIMITED) accounts.set(id, account);
      return account;
    },
  };
}
