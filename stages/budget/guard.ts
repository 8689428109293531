/**
 * The spending guard: how much a request, a session and a UTC day may cost, and how many
 * tokens a day may take.
 *
 * | event                          | then                                                           |
 * |--------------------------------|----------------------------------------------------------------|
 * | reserve, guard off             | granted; nothing is compared                                   |
 * | reserve, price unknown         | granted and noted; only its tokens count                       |
 * | reserve, over a limit          | blocked, unless allowed once; the first limit passed is named  |
 * | reserve, over the warn percent | granted with a warning                                         |
 * | reserve                        | its estimate is held in session and day                        |
 * | change                         | its new estimate is held instead, or refused and nothing moves |
 * | settle                         | the estimate is given back, the real cost is spent             |
 * | settleUnmeasured               | the estimate is spent: an answer came without any figures      |
 * | release                        | the estimate is given back                                     |
 * | count                          | the cost of what nothing was held for is spent, by the day     |
 * | midnight UTC                   | the day's spending starts anew; what is held stays held        |
 *
 * What is held counts like what is spent, so requests that run at the same time cannot
 * pass a limit together by more than their estimates fell short. Amounts are whole
 * nano-dollars, for the scope `tokens` whole tokens.
 */
import type { Clock } from '../../engine/index.ts';
import { createAllowances } from './allowance.ts';
import type { Allowances } from './allowance.ts';
import { createRecall } from './recall.ts';
import type { ReadSpentBefore, Recall, SpentBefore } from './recall.ts';
import { Reservation } from './reservation.ts';
import type { Grant, Holder } from './reservation.ts';
import { createSessions } from './sessions.ts';
import type { Account, Sessions } from './sessions.ts';
import type {
  SpendingNote,
  SpendingRequest,
  SpendingSettings,
  SpendingVerdict,
} from './spending.ts';

const DAY_MS = 86_400_000;

/** The percentage of `limit` that is left; null where there is none. */
function leftOf(limit: number | null, { spent, held }: Account): number | null {
  if (limit === null) return null;
  return limit === 0 ? 0 : Math.max(0, (1 - (spent + held) / limit) * 100);
}

/** A guard that has seen nothing. `clock` gives wall time for the day and monotonic time for allowances. */
export class SpendingGuard implements Holder {
  readonly allowances: Allowances;
  readonly day: Account = { spent: 0, held: 0 };
  readonly tokens: Account = { spent: 0, held: 0 };
  readonly counts = { warned: 0, blocked: 0, allowedOnce: 0, unpriced: 0 };
  readonly #clock: Clock;
  readonly #sessions: Sessions = createSessions();
  #settings: SpendingSettings;
  #dayNumber: number;
  #recall: Recall | undefined;

  constructor(settings: SpendingSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.allowances = createAllowances(clock);
    this.#dayNumber = this.#today();
  }

  /** What `reserve` would say, without holding anything and without using an allowance. */
  check(request: SpendingRequest): SpendingVerdict {
    if (!this.#settings.enabled) return { verdict: 'ok' };
    this.turnDay();
    const notes = this.#notes(request);
    const over = notes.find(({ used, estimate, limit }) => used + estimate > limit);
    if (over !== undefined) return { verdict: 'blocked', note: over };
    const near = notes.filter((note) => this.#isNear(note));
    return near.length > 0 ? { verdict: 'warn', notes: near } : { verdict: 'ok' };
  }

  /** Asks to send a request; `allowOnce` lets it pass its limits. What is granted must be settled or released. */
  reserve(request: SpendingRequest, allowOnce = false): Grant {
    const found = this.check(request);
    const isOver = found.verdict === 'blocked';
    if (isOver && !allowOnce && !this.allowances.use()) {
      this.counts.blocked += 1;
      return { granted: false, note: found.note };
    }
    if (isOver) this.counts.allowedOnce += 1;
    if (found.verdict === 'warn') this.counts.warned += 1;
    return {
      granted: true,
      // Held even while the guard is off, so that turning it on finds true figures.
      reservation: new Reservation(
        this,
        this.#sessions.open(request.session),
        request,
        allowOnce || isOver,
      ),
      warnings: found.verdict === 'warn' ? found.notes : [],
      allowedOnce: isOver,
    };
  }

  /** Lets the next request that would be blocked pass, for ten minutes at most: the command line's `allow`. */
  allowNext(): void {
    this.allowances.add();
  }

  /** Adds to the day what nothing was reserved for, or what it has cost before this process began. */
  count(costNanoUsd: number, tokens: number): void {
    this.turnDay();
    this.day.spent += costNanoUsd;
    this.tokens.spent += tokens;
  }

  /** Adds what a session has cost before this process began. */
  countSession(session: string, costNanoUsd: number): void {
    this.#sessions.open(session).spent += costNanoUsd;
  }

  /** From where `known` gets what was spent before this process began; without it nothing was. */
  recallFrom(read: ReadSpentBefore): void {
    this.#recall = createRecall(read, (spent) => this.#countBefore(spent), this.#clock);
  }

  /** Reads it, unless that was done; resolves when that has ended in one way or the other. */
  async recall(): Promise<void> {
    await this.#recall?.pending()?.catch(() => undefined);
  }

  /**
   * Undefined when every limit that is set can be judged; until then a promise that is fulfilled
   * when they can. Rejects with `unavailable` where what was spent before cannot be read.
   */
  known(): Promise<void> | undefined {
    const { enabled, perSessionNanoUsd, perDayNanoUsd, perDayTokens } = this.#settings;
    const looksBack = perSessionNanoUsd !== null || perDayNanoUsd !== null || perDayTokens !== null;
    return enabled && looksBack ? this.#recall?.pending() : undefined;
  }

  configure(settings: SpendingSettings): void {
    this.#settings = settings;
  }

  /** What `/health` shows. Amounts in nano-dollars. */
  view() {
    this.turnDay();
    const { enabled, perRequestNanoUsd, perSessionNanoUsd, perDayNanoUsd } = this.#settings;
    const { perDayTokens } = this.#settings;
    const left = [leftOf(perDayNanoUsd, this.day), leftOf(perDayTokens, this.tokens)].filter(
      (each) => each !== null,
    );
    return {
      enabled,
      limits: {
        request: perRequestNanoUsd,
        session: perSessionNanoUsd,
        day: perDayNanoUsd,
        tokens: perDayTokens,
      },
      /** The UTC day, `YYYY-MM-DD`. */
      day: new Date(this.#dayNumber * DAY_MS).toISOString().slice(0, 10),
      spentTodayNanoUsd: this.day.spent,
      heldNanoUsd: this.day.held,
      tokensToday: this.tokens.spent,
      /** How much of the day's limit is left, 0 to 100, of the narrower one; `null` without any. */
      dayLeftPercent: left.length === 0 ? null : Math.min(...left),
      /** Why it is not known what was spent before the start; undefined where it is. */
      unreadable: this.#recall?.failure?.message,
      /** Since the start: requests with a warning, blocked, let through once, and of unknown price. */
      ...this.counts,
    };
  }

  #countBefore({ dayMs, costNanoUsd, tokens, sessions }: SpentBefore): void {
    // It may have been read just before midnight.
    if (dayMs === this.#today() * DAY_MS) this.count(costNanoUsd, tokens);
    for (const each of sessions) this.countSession(each.session, each.costNanoUsd);
  }

  /** The limits that are set and touched, narrowest first, with what has been used of each. */
  #notes(request: SpendingRequest): SpendingNote[] {
    const { estimateNanoUsd, estimateTokens = 0 } = request;
    const { perRequestNanoUsd, perSessionNanoUsd, perDayNanoUsd, perDayTokens } = this.#settings;
    const session = this.#sessions.peek(request.session);
    const limits = [
      ['request', perRequestNanoUsd, undefined, estimateNanoUsd],
      ['session', perSessionNanoUsd, session, estimateNanoUsd],
      ['day', perDayNanoUsd, this.day, estimateNanoUsd],
      ['tokens', perDayTokens, this.tokens, estimateTokens],
    ] as const;
    return limits.flatMap(([scope, limit, account, estimate]) => {
      if (limit === null || estimate === null) return [];
      return { scope, limit, used: account ? account.spent + account.held : 0, estimate };
    });
  }

  #isNear({ limit, used, estimate }: SpendingNote): boolean {
    return (used + estimate) * 100 >= limit * this.#settings.warnPercent;
  }

  turnDay(): void {
    const today = this.#today();
    // Not only forward: a clock that was set wrong must not keep tomorrow's spending until then.
    if (today === this.#dayNumber) return;
    this.#dayNumber = today;
    this.day.spent = 0;
    this.tokens.spent = 0;
  }

  #today(): number {
    return Math.floor(this.#clock.wallMs() / DAY_MS);
  }
}
