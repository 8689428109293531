/**
 * A request's reservation on its limits, and how it ends: see the guard's table for the effect of
 * each event.
 */
import type { Allowances } from './allowance.ts';
import type { Account } from './sessions.ts';
import type { Estimate, SpendingNote, SpendingRequest, SpendingVerdict } from './spending.ts';

import { toSharedAccount } from './shared.ts';
import type { SharedLimit, SharedSpending, SharedVerdict } from './shared.ts';

/** What a reservation needs of the spending guard. */
export interface ReservationLimits {
  readonly day: Account;
  readonly tokens: Account;
  readonly counts: { blocked: number; allowedOnce: number };
  readonly allowances: Allowances;
  check(request: SpendingRequest): SpendingVerdict;
  /** Returns the accounts of the request's key and project, and of the proxy's month. */
  accountsOf(request: Pick<SpendingRequest, 'spender'>): readonly Account[];
  /** The usage by other proxies; undefined without any. */
  readonly sharing: SharedSpending | undefined;
  /** Returns the request's limits that are shared with other proxies. */
  sharedLimitsOf(request: Pick<SpendingRequest, 'spender'>): readonly SharedLimit[];
  isNear(note: SpendingNote): boolean;
  /** Starts a new day if it has changed. */
  startNewDay(): void;
}

/**
 * The reservation of a granted request, until it is settled or released, whichever is first. A
 * class, because closures would create seven functions for every request.
 */
export class Reservation {
  readonly #limitState: ReservationLimits;
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
  constructor(
    limitState: ReservationLimits,
    account: Account,
    request: SpendingRequest,
    mayPass: boolean,
  ) {
    this.#limitState = limitState;
    this.#request = request;
    this.#accounts = [account, ...limitState.accountsOf(request)];
    this.#estimate = request;
    this.#mayPass = mayPass;
    this.#addHeld(1);
  }

  /**
   * Asks the other proxies whether the shared limits allow this request; undefined if there are no
   * shared limits. A request that exceeds one must be released.
   */
  share(): Promise<SharedVerdict> | undefined {
    const { sharing } = this.#limitState;
    if (sharing === undefined) return undefined;
    const limits = this.#limitState.sharedLimitsOf(this.#request);
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
      const { allowances, counts } = this.#limitState;
      if (!allowances.use()) {
        counts.blocked += 1;
        return { over, near: [] };
      }
      counts.allowedOnce += 1;
      this.#mayPass = true;
      taken = await ask(true);
    }
    if (taken !== undefined) this.#shared = limits;
    return {
      near: taken === undefined ? [] : notes.filter((note) => this.#limitState.isNear(note)),
    };
  }

  /**
   * Tells the other proxies that the reservation or the cost exceeds what they know by this much.
   */
  #report(moreNanoUsd: number): void {
    if (this.#shared.length === 0 || moreNanoUsd === 0) return;
    const accounts = this.#shared.map((one) => toSharedAccount(one, true));
    void this.#limitState.sharing?.take(accounts, moreNanoUsd);
  }

  /**
   * Returns the limit that would make `change` refuse now; changes nothing and uses no allowance.
   */
  refuses(other: Estimate): SpendingNote | undefined {
    const exceeded = this.#isOpen ? this.#limitOf(other) : undefined;
    if (exceeded === undefined || this.#limitState.allowances.isAny()) return undefined;
    this.#limitState.counts.blocked += 1;
    return exceeded;
  }

  /**
   * Replaces the reservation by `other`; returns the limit that it would exceed, if it is not
   * allowed to.
   */
  change(other: Estimate): SpendingNote | undefined {
    if (!this.#isOpen) return undefined;
    const { allowances, counts } = this.#limitState;
    const exceeded = this.#limitOf(other);
    if (exceeded !== undefined && !allowances.use()) {
      counts.blocked += 1;
      return exceeded;
    }
    if (exceeded !== undefined) counts.allowedOnce += 1;
    this.#mayPass ||= exceeded !== undefined;
    this.#report((other.estimateNanoUsd ?? 0) - (this.#estimate.estimateNanoUsd ?? 0));
    this.#addHeld(-1);
    this.#estimate = other;
    this.#addHeld(1);
    return undefined;
  }

  /** Ends with the real cost; `null` if it is unknown, and then only the known part is charged. */
  settle(costNanoUsd: number | null, tokens = 0, knownNanoUsd = 0): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { day, tokens: allTokens } = this.#limitState;
    this.#limitState.startNewDay();
    this.#report((costNanoUsd ?? knownNanoUsd) - (this.#estimate.estimateNanoUsd ?? 0));
    this.#addHeld(-1);
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

  /** Ends without cost: the request was not sent, or was answered from the cache. */
  release(): void {
    this.settle(0);
  }

  #addHeld(times: 1 | -1): void {
    const { day, tokens } = this.#limitState;
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
    this.#addHeld(-1);
    const found = this.#limitState.check({ ...this.#request, ...other });
    this.#addHeld(1);
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
