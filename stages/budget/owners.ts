/**
 * What the whole proxy has spent in a UTC month, and what each proxy key and each project has in a
 * UTC day and month. A period is part of the account's name: a new day begins with new accounts.
 */
import type { Account } from './sessions.ts';

/** Whose spending an account holds. `proxy` is all of it; its name is empty. */
export type Owner = 'proxy' | 'key' | 'project';
export type Period = 'day' | 'month';

/** Dollars that an owner may spend, in nano-dollars; `null` for no limit. */
export interface OwnerLimits {
  readonly perDayNanoUsd: number | null;
  readonly perMonthNanoUsd: number | null;
}

/** True where one of them is set. */
export function hasLimit<L extends Partial<OwnerLimits>>(limits: L | undefined): limits is L {
  return (limits?.perDayNanoUsd ?? limits?.perMonthNanoUsd ?? null) !== null;
}

/** Whose spending a request adds to, besides the proxy's. */
export interface Spender {
  /** The key that it came with, by its label, and what that may spend. */
  readonly key?: OwnerLimits & { readonly label: string };
  readonly project?: string | undefined;
}

/** What had been spent in the period that has this name. */
export interface OwnerSpent {
  readonly owner: Owner;
  readonly name: string;
  readonly period: string;
  readonly costNanoUsd: number;
}

/** Accounts without a limit that are remembered: clients can invent projects. */
const MOST_FREE = 10_000;

/** The name of the period in which `atMs` lies: `2026-11-26` or `2026-11`. */
export function periodName(period: Period, atMs: number): string {
  return new Date(atMs).toISOString().slice(0, period === 'day' ? 10 : 7);
}

/** Where it begins, in milliseconds since the epoch. */
export function periodStartMs(period: Period, atMs: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), period === 'day' ? at.getUTCDate() : 1);
}

/** Where the next one begins. */
export function periodEndMs(period: Period, atMs: number): number {
  const at = new Date(atMs);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return period === 'day'
    ? Date.UTC(year, month, at.getUTCDate() + 1)
    : Date.UTC(year, month + 1, 1);
}

export type Owners = ReturnType<typeof createOwners>;

/** No accounts yet. */
export function createOwners() {
  const accounts = new Map<string, Account>();
  let today = '';

  /** Drops the accounts of periods that are over, but for those that hold something. */
  function forget(atMs: number): void {
    const day = periodName('day', atMs);
    if (day === today) return;
    today = day;
    const month = periodName('month', atMs);
    for (const [id, { held }] of accounts)
      if (held === 0 && !id.endsWith(`\0${day}`) && !id.endsWith(`\0${month}`)) accounts.delete(id);
  }

  const idOf = (owner: Owner, name: string, period: string) => `${owner}\0${name}\0${period}`;

  return {
    /** An account, if it is known. */
    peek: (owner: Owner, name: string, period: string): Account | undefined =>
      accounts.get(idOf(owner, name, period)),
    /** The same, made if need be; past a bound those without a limit are not remembered. */
    open(owner: Owner, name: string, period: string, atMs: number, isLimited: boolean): Account {
      forget(atMs);
      const id = idOf(owner, name, period);
      const known = accounts.get(id);
      if (known !== undefined) return known;
      const account = { spent: 0, held: 0 };
      if (isLimited || accounts.size < MOST_FREE) accounts.set(id, account);
      return account;
    },
  };
}
