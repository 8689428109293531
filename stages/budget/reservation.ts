/**
 * A request's reservation on its limits, and how it ends: see the guard's table for the effect of
 * each event.
 */
import type { Allowances } from './allowance.ts';
import type { Account } from './sessions.ts';
import type { Estimate, SpendingNote, SpendingRequest, SpendingVerdict } from './spending.ts';

import { toSharedAccount } from './shared.ts';
import type { SharedLimit, SharedSpending, SharedVerdict } from './shared.ts';

/** The interface of the guard for reservations. */
export interface Holder {
  readonly day: Account;
  readonly tokens: Account;
  readonly counts: { blocked: number; allowedOnce: number };
  readonly allowances: Allowances;
  check(request: SpendingRequest): SpendingVerdict;
  /** Returns the accounts of the request's key and project, and of the proxy's month. */
  accountsOf(request: Pick<SpendingRequest, 'spender'>): readonly Account[];
  /** Knows what other proxies use; undefined without any. */
  readonly sharing: SharedSpending | undefined;
  /** Returns the request's limits that are shared with other proxies. */
  sharedLimitsOf(request: Pick<SpendingRequest, 'spender'>): readonly SharedLimit[];
  isNear(note: SpendingNote): boolean;
  /** Starts a new day if it has changed. */
  turnDay(): void;
}

/**
 * A granted request's reservation, until it is settled or released; the first of the two counts. A
 * class: every request has one, and closures would add seven functions of garbage each.
 */
export class Reservation {
  readonly #holder: Holder;
  readonly #request: SpendingRequest;
  /** The accounts of its session and of all other owners, besides the day. */
  readonly #accounts: readonly Account[];
  #estimate: Estimate;
  /** True if its limits do not block it. */
  #mayPass: boolean;
  #isOpen = true;
  /** The limits for which the other proxies know its estimate. */
  #shared: readonly SharedLimit[] = [];

  /** Reserves the request's estimate; `account` is that of its session. */
  constructor(holder: Holder, account: Account, request: SpendingRequest, mayPass: boolean) {
    this.#holder = holder;
    this.#request = request;
    this.#accounts = [account, ...holder.accountsOf(request)];
    this.#estimate = request;
    this.#mayPass = mayPass;
    this.#hold(1);
  }

  /**
   * Asks the other proxies for room under the shared limits; undefined if there are none. A request
   * over one of them must be released.
   */
  share(): Promise<SharedVerdict> | undefined {
    const { sharing } = this.#holder;
    if (sharing === undefined) return undefined;
    const limits = this.#holder.sharedLimitsOf(this.#request);
    return limits.length === 0 ? undefined : this.#shareWith(sharing, limits);
  }

  async #shareWith(
    sharing: SharedSpending,
    limits: readonly SharedLimit[],
  ): Promise<SharedVerdict> {
    const { estimateNanoUsd } = this.#estimate;
    const amount = estimateNanoUsd ?? 0;
    const ask = async (isFree: boolean) => {
      for (const { account } of limits) account.pending = (account.pending ?? 0) + amount;
      const taken = await sharing.take(
        limits.map((one) => toSharedAccount(one, isFree)),
        amount,
      );
      for (const { account } of limits) account.pending = (account.pending ?? 0) - amount;
      return taken;
    };
    let taken = await ask(this.#mayPass || estimateNanoUsd === null);
    const notes = limits.map(({ scope, name, untilMs, limit }, at) => {
      return { scope, name, untilMs, limit, used: taken?.used[at] ?? 0, estimate: amount };
    });
    const over = taken?.over === undefined ? undefined : notes[taken.over];
    if (over !== undefined) {
      const { allowances, counts } = this.#holder;
      if (!allowances.use()) {
        counts.blocked += 1;
        return { over, near: [] };
      }
      counts.allowedOnce += 1;
      this.#mayPass = true;
      taken = await ask(true);
    }
    if (taken !== undefined) this.#shared = limits;
    return { near: taken === undefined ? [] : notes.filter((note) => this.#holder.isNear(note)) };
  }

  /** Tells the others about a reservation or spending that exceeds what they know by this much. */
  #tell(moreNanoUsd: number): void {
    if (this.#shared.length === 0 || moreNanoUsd === 0) return;
    const accounts = this.#shared.map((one) => toSharedAccount(one, true));
    void this.#holder.sharing?.take(accounts, moreNanoUsd);
  }

  /**
   * Returns the limit for which `change` would refuse now; changes nothing and uses no allowance.
   */
  refuses(other: Estimate): SpendingNote | undefined {
    const passed = this.#isOpen ? this.#limitOf(other) : undefined;
    if (passed === undefined || this.#holder.allowances.isAny()) return undefined;
    this.#holder.counts.blocked += 1;
    return passed;
  }

  /**
   * Replaces the reservation by `other`; returns the limit that it would exceed, if it is not
   * allowed to.
   */
  change(other: Estimate): SpendingNote | undefined {
    if (!this.#isOpen) return undefined;
    const { allowances, counts } = this.#holder;
    const passed = this.#limitOf(other);
    if (passed !== undefined && !allowances.use()) {
      counts.blocked += 1;
      return passed;
    }
    if (passed !== undefined) counts.allowedOnce += 1;
    this.#mayPass ||= passed !== undefined;
    this.#tell((other.estimateNanoUsd ?? 0) - (this.#estimate.estimateNanoUsd ?? 0));
    this.#hold(-1);
    this.#estimate = other;
    this.#hold(1);
    return undefined;
  }

  /** Ends with the real cost; `null` if unknown, in which case the known part counts. */
  settle(costNanoUsd: number | null, tokens = 0, knownNanoUsd = 0): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { day, tokens: allTokens } = this.#holder;
    this.#holder.turnDay();
    this.#tell((costNanoUsd ?? knownNanoUsd) - (this.#estimate.estimateNanoUsd ?? 0));
    this.#hold(-1);
    for (const account of this.#accounts) account.spent += costNanoUsd ?? knownNanoUsd;
    day.spent += costNanoUsd ?? knownNanoUsd;
    allTokens.spent += tokens;
  }

  /** Ends with its own estimate, which it returns: there was an answer, but without usage. */
  settleUnmeasured(): Estimate {
    const estimate = this.#estimate;
    this.settle(estimate.estimateNanoUsd, estimate.estimateTokens);
    return estimate;
  }

  /** Ends without cost: the request was not sent, or answered from the cache. */
  release(): void {
    this.settle(0);
  }

  #hold(times: 1 | -1): void {
    const { day, tokens } = this.#holder;
    const { estimateNanoUsd, estimateTokens = 0 } = this.#estimate;
    for (const account of this.#accounts) account.held += times * (estimateNanoUsd ?? 0);
    day.held += times * (estimateNanoUsd ?? 0);
    tokens.held += times * estimateTokens;
  }

  /**
   * Returns the limit that replacing the reservation by `other` would exceed without permission.
   */
  #limitOf(other: Estimate): SpendingNote | undefined {
    if (this.#mayPass) return undefined;
    this.#hold(-1);
    const found = this.#holder.check({ ...this.#request, ...other });
    this.#hold(1);
    return found.verdict === 'blocked' ? found.note : undefined;
  }
}

export type Grant =
  | {
      readonly granted: true;
      readonly reservation: Reservation;
      readonly warnings: readonly SpendingNote[];
      /** True if a limit was exceeded with a one-time permission. */
      readonly allowedOnce: boolean;
    }
  | { readonly granted: false; readonly note: SpendingNote };
