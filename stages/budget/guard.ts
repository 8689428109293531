/**
 * The spending guard: how much a request, a session and a UTC day may cost.
 *
 * | event                          | then                                                           |
 * |--------------------------------|----------------------------------------------------------------|
 * | reserve, guard off             | granted; nothing is compared                                   |
 * | reserve, price unknown         | granted and noted; it neither blocks nor counts                |
 * | reserve, over a limit          | blocked, unless allowed once; the first limit passed is named  |
 * | reserve, over the warn percent | granted with a warning                                         |
 * | reserve                        | its estimate is held in session and day                        |
 * | settle                         | the estimate is given back, the real cost is spent             |
 * | release                        | the estimate is given back                                     |
 * | midnight UTC                   | the day's spending starts anew; what is held stays held        |
 *
 * What is held counts like what is spent, so requests that run at the same time cannot
 * pass a limit together by more than their estimates fell short. Amounts are whole
 * nano-dollars.
 */
import type { Clock } from '../../engine/index.ts';
import { createAllowances } from './allowance.ts';
import type { Allowances } from './allowance.ts';
import { createSessions } from './sessions.ts';
import type { Account, Sessions } from './sessions.ts';

export interface SpendingSettings {
  readonly enabled: boolean;
  /** Limits in nano-dollars; `null` for none. */
  readonly perRequestNanoUsd: number | null;
  readonly perSessionNanoUsd: number | null;
  readonly perDayNanoUsd: number | null;
  /** From which part of a limit on to warn, 1 to 100. */
  readonly warnPercent: number;
}

export type SpendingScope = 'request' | 'session' | 'day';

/** A limit that a request touches. Amounts in nano-dollars. */
export interface SpendingNote {
  readonly scope: SpendingScope;
  readonly limitNanoUsd: number;
  /** Spent and held before this request; 0 for the scope `request`. */
  readonly usedNanoUsd: number;
  readonly estimateNanoUsd: number;
}

export type SpendingVerdict =
  | { readonly verdict: 'ok' }
  /** The limits of which the warn percentage is reached. */
  | { readonly verdict: 'warn'; readonly notes: readonly SpendingNote[] }
  | { readonly verdict: 'blocked'; readonly note: SpendingNote };

export interface SpendingRequest {
  /** What it will cost in all likelihood; `null` where the price is unknown. */
  readonly estimateNanoUsd: number | null;
  /** Whose spending it adds to: a conversation's or a client session's id. */
  readonly session: string;
}

/** What a granted request holds, until it is settled or released. The first of the two counts. */
export interface Reservation {
  /** Ends with the real cost; `null` where it is unknown, which counts nothing and is noted. */
  settle(costNanoUsd: number | null): void;
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
  /** How much of the day's limit is left, 0 to 100; `null` without one. */
  readonly dayLeftPercent: number | null;
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
  /** Adds what the ledger knows of the present UTC day. For the start, and before any request. */
  startDay(spentNanoUsd: number): void;
  configure(settings: SpendingSettings): void;
  view(): SpendingView;
}

/** A guard that has seen nothing. `clock` gives wall time for the day and monotonic time for allowances. */
export function createSpendingGuard(settings: SpendingSettings, clock: Clock): SpendingGuard {
  return new Guard(settings, clock);
}

const DAY_MS = 86_400_000;

class Guard implements SpendingGuard {
  readonly #clock: Clock;
  readonly #sessions: Sessions = createSessions();
  readonly #allowances: Allowances;
  readonly #day: Account = { spent: 0, held: 0 };
  #settings: SpendingSettings;
  #dayNumber: number;
  #counts = { warned: 0, blocked: 0, allowedOnce: 0, unpriced: 0 };

  constructor(settings: SpendingSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#allowances = createAllowances(clock);
    this.#dayNumber = this.#today();
  }

  check({ estimateNanoUsd, session }: SpendingRequest): SpendingVerdict {
    if (!this.#settings.enabled || estimateNanoUsd === null) return { verdict: 'ok' };
    this.#turnDay();
    const notes = this.#notes(estimateNanoUsd, this.#sessions.peek(session));
    const over = notes.find((note) => note.usedNanoUsd + estimateNanoUsd > note.limitNanoUsd);
    if (over !== undefined) return { verdict: 'blocked', note: over };
    const near = notes.filter((note) => this.#isNear(note));
    return near.length > 0 ? { verdict: 'warn', notes: near } : { verdict: 'ok' };
  }

  reserve(request: SpendingRequest, allowOnce = false): Grant {
    const found = this.check(request);
    const isOver = found.verdict === 'blocked';
    if (isOver && !allowOnce && !this.#allowances.use()) {
      this.#counts.blocked += 1;
      return { granted: false, note: found.note };
    }
    if (isOver) this.#counts.allowedOnce += 1;
    if (found.verdict === 'warn') this.#counts.warned += 1;
    return {
      granted: true,
      reservation: this.#hold(request),
      warnings: found.verdict === 'warn' ? found.notes : [],
      allowedOnce: isOver,
    };
  }

  allowNext(): void {
    this.#allowances.add();
  }

  startDay(spentNanoUsd: number): void {
    this.#turnDay();
    this.#day.spent += spentNanoUsd;
  }

  configure(settings: SpendingSettings): void {
    this.#settings = settings;
  }

  view(): SpendingView {
    this.#turnDay();
    const { enabled, perRequestNanoUsd, perSessionNanoUsd, perDayNanoUsd } = this.#settings;
    const left = perDayNanoUsd && 1 - (this.#day.spent + this.#day.held) / perDayNanoUsd;
    return {
      enabled,
      limits: { request: perRequestNanoUsd, session: perSessionNanoUsd, day: perDayNanoUsd },
      day: new Date(this.#dayNumber * DAY_MS).toISOString().slice(0, 10),
      spentTodayNanoUsd: this.#day.spent,
      heldNanoUsd: this.#day.held,
      dayLeftPercent: left === null ? null : Math.max(0, left * 100),
      ...this.#counts,
    };
  }

  /** The limits that are set, narrowest first, with what has been used of each. */
  #notes(estimateNanoUsd: number, session: Account | undefined): SpendingNote[] {
    const { perRequestNanoUsd, perSessionNanoUsd, perDayNanoUsd } = this.#settings;
    const used = ({ spent, held }: Account): number => spent + held;
    const notes: SpendingNote[] = [];
    const add = (scope: SpendingScope, limitNanoUsd: number | null, usedNanoUsd: number): void => {
      if (limitNanoUsd !== null) notes.push({ scope, limitNanoUsd, usedNanoUsd, estimateNanoUsd });
    };
    add('request', perRequestNanoUsd, 0);
    add('session', perSessionNanoUsd, session === undefined ? 0 : used(session));
    add('day', perDayNanoUsd, used(this.#day));
    return notes;
  }

  #isNear({ limitNanoUsd, usedNanoUsd, estimateNanoUsd }: SpendingNote): boolean {
    return (usedNanoUsd + estimateNanoUsd) * 100 >= limitNanoUsd * this.#settings.warnPercent;
  }

  /** Holds the estimate even while the guard is off, so that turning it on finds true figures. */
  #hold({ estimateNanoUsd, session }: SpendingRequest): Reservation {
    const accounts = [this.#sessions.open(session), this.#day];
    const held = estimateNanoUsd ?? 0;
    let isOpen = true;
    for (const account of accounts) account.held += held;
    const end = (costNanoUsd: number | null): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#turnDay();
      if (costNanoUsd === null) this.#counts.unpriced += 1;
      for (const account of accounts) {
        account.held -= held;
        account.spent += costNanoUsd ?? 0;
      }
    };
    return { settle: end, release: () => end(0) };
  }

  #turnDay(): void {
    const today = this.#today();
    // Not only forward: a clock that was set wrong must not keep tomorrow's spending until then.
    if (today === this.#dayNumber) return;
    this.#dayNumber = today;
    this.#day.spent = 0;
  }

  #today(): number {
    return Math.floor(this.#clock.wallMs() / DAY_MS);
  }
}
