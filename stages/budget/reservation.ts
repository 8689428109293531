/** What one request holds of the limits, and how that ends: the guard's table says what each event does. */
import type { Allowances } from './allowance.ts';
import type { Account } from './sessions.ts';
import type {
  Estimate,
  Reservation,
  SpendingNote,
  SpendingRequest,
  SpendingVerdict,
} from './spending.ts';

/** The guard's side of it. */
export interface Holder {
  readonly day: Account;
  readonly tokens: Account;
  readonly counts: { blocked: number; allowedOnce: number; unpriced: number };
  readonly allowances: Allowances;
  check(request: SpendingRequest): SpendingVerdict;
  /** Begins the day anew where it has changed. */
  turnDay(): void;
}

/** A class: there is one for every request, and seven functions of its own each would be garbage. */
export class HeldReservation implements Reservation {
  readonly #holder: Holder;
  readonly #session: string;
  readonly #account: Account;
  #estimate: Estimate;
  /** True if its limits do not stop it. */
  #mayPass: boolean;
  #isOpen = true;

  /** Holds the request's estimate from now on; `account` is its session's. */
  constructor(holder: Holder, account: Account, request: SpendingRequest, mayPass: boolean) {
    this.#holder = holder;
    this.#session = request.session;
    this.#account = account;
    this.#estimate = request;
    this.#mayPass = mayPass;
    this.#hold(1);
  }

  refuses(other: Estimate): SpendingNote | undefined {
    const passed = this.#isOpen ? this.#limitOf(other) : undefined;
    if (passed === undefined || this.#holder.allowances.isAny()) return undefined;
    this.#holder.counts.blocked += 1;
    return passed;
  }

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
    this.#hold(-1);
    this.#estimate = other;
    this.#hold(1);
    return undefined;
  }

  settle(costNanoUsd: number | null, tokens = 0): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { day, tokens: allTokens, counts } = this.#holder;
    this.#holder.turnDay();
    if (costNanoUsd === null) counts.unpriced += 1;
    this.#hold(-1);
    this.#account.spent += costNanoUsd ?? 0;
    day.spent += costNanoUsd ?? 0;
    allTokens.spent += tokens;
  }

  settleUnmeasured(): void {
    this.settle(this.#estimate.estimateNanoUsd, this.#estimate.estimateTokens);
  }

  release(): void {
    this.settle(0);
  }

  #hold(times: 1 | -1): void {
    const { day, tokens } = this.#holder;
    const { estimateNanoUsd, estimateTokens = 0 } = this.#estimate;
    this.#account.held += times * (estimateNanoUsd ?? 0);
    day.held += times * (estimateNanoUsd ?? 0);
    tokens.held += times * estimateTokens;
  }

  /** The limit that `other` would pass in place of what is held, and may not. */
  #limitOf(other: Estimate): SpendingNote | undefined {
    if (this.#mayPass) return undefined;
    this.#hold(-1);
    const found = this.#holder.check({ session: this.#session, ...other });
    this.#hold(1);
    return found.verdict === 'blocked' ? found.note : undefined;
  }
}
