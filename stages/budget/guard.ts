/**
 * The spending guard: how much a request, a session, a UTC day and a month may cost, how much each
 * proxy key and project may cost in a day and a month, and how many tokens a day may take. The
 * limits of a key apply even while the guard is off: they were made with the key.
 *
 * | event                          | then                                                           |
 * |--------------------------------|----------------------------------------------------------------|
 * | reserve, guard off             | granted; nothing is compared                                   |
 * | reserve, price unknown         | granted; only its tokens count                                 |
 * | reserve, cost unpredictable    | blocked by any limit in dollars, unless allowed once           |
 * | reserve, over a limit          | blocked, unless allowed once; the first exceeded limit is named|
 * | reserve, over the warn percent | granted with a warning                                         |
 * | reserve                        | its estimate is reserved in session and day                    |
 * | change                         | its new estimate replaces the old, or is refused               |
 * | settle                         | the reservation is released, the real cost is spent            |
 * | settleUnmeasured               | the estimate is spent: an answer came without any figures      |
 * | release                        | the reservation is released                                    |
 * | count                          | a cost without a reservation is spent, by the day              |
 * | midnight UTC                   | the day's spending is reset; reservations stay                 |
 *
 * Reservations count as spending, so concurrent requests cannot exceed a limit together by more
 * than their estimates fell short. Amounts are whole nano-dollars, or whole tokens for the scope
 * `tokens`.
 */
import type { Clock } from '../../engine/index.ts';
import { createAllowances } from './allowance.ts';
import type { Allowances } from './allowance.ts';
import { createOwners, DAY_MS, hasLimit, periodEndMs } from './owners.ts';
import type { Owner, OwnerLimits, Owners, Period, Spender } from './owners.ts';
import { createRecall } from './earlier-spending.ts';
import type { ReadEarlierSpending, Recall, EarlierSpending } from './earlier-spending.ts';
import type { SharedLimit, SharedSpending } from './shared.ts';
import { toSharedAccount } from './shared.ts';
import { Reservation } from './reservation.ts';
import type { Grant, ReservationLimits } from './reservation.ts';
import { createSessions } from './sessions.ts';
import type { Account, Sessions } from './sessions.ts';
import type {
  SpendingNote,
  SpendingRequest,
  SpendingScope,
  SpendingSettings,
  SpendingVerdict,
} from './spending.ts';

/** Returns the percentage of `limit` that is left; null without a limit. */
function percentLeft(limit: number | null, { spent, held }: Account): number | null {
  if (limit === null) return null;
  return limit === 0 ? 0 : Math.max(0, (1 - (spent + held) / limit) * 100);
}

/**
 * One limit: its scope and size, how much is used, the request's share, when it resets, its owner.
 */
type Limit = readonly [
  scope: SpendingScope,
  limit: number | null,
  account: Readonly<Account> | undefined,
  estimate: number | null,
  untilMs?: number,
  name?: string,
];

/**
 * A guard without any history. `clock` provides wall time for the day and monotonic time for
 * allowances.
 */
export class SpendingGuard implements ReservationLimits {
  readonly allowances: Allowances;
  readonly day: Account = { spent: 0, held: 0 };
  readonly tokens: Account = { spent: 0, held: 0 };
  readonly counts = { warned: 0, blocked: 0, allowedOnce: 0, unpriced: 0 };
  readonly #clock: Clock;
  readonly #sessions: Sessions = createSessions();
  readonly #owners: Owners = createOwners();
  /** The usage of shared limits by all proxies; undefined without other proxies. */
  sharing: SharedSpending | undefined;
  #settings: SpendingSettings;
  /** The latest limits of each used key; their number is bounded by the keys made. */
  readonly #keyLimits = new Map<string, OwnerLimits>();
  #dayNumber: number;
  #recall: Recall | undefined;

  constructor(settings: SpendingSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.allowances = createAllowances(clock);
    this.#dayNumber = this.#today();
  }

  /**
   * Returns the verdict that `reserve` would give, without reserving anything and without using an
   * allowance.
   */
  check(request: SpendingRequest): SpendingVerdict {
    const { key } = request.spender ?? {};
    if (hasLimit(key)) this.#keyLimits.set(key.label, key);
    else if (!this.#settings.enabled) return { verdict: 'ok' };
    this.startNewDay();
    const notes = this.#notes(request);
    const over = notes.find(
      ({ scope, used, estimate, limit }) =>
        used + estimate > limit || (request.isUnpredictable === true && scope !== 'tokens'),
    );
    if (over !== undefined) return { verdict: 'blocked', note: over };
    const near = notes.filter((note) => this.isNear(note));
    return near.length > 0 ? { verdict: 'warn', notes: near } : { verdict: 'ok' };
  }

  /**
   * Requests a reservation; `allowOnce` lets it exceed its limits. A granted one must be settled or
   * released.
   */
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
      // Reserved even while the guard is off, so that turning it on starts with correct figures.
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

  /** Lets the next request that would be blocked pass, within ten minutes (`svc spend allow`). */
  allowNext(): void {
    this.allowances.add();
  }

  /** Counts a billed request without a known price. */
  noteUnpriced(): void {
    this.counts.unpriced += 1;
  }

  /** Adds a cost without a reservation, or one from before this process started, to the day. */
  count(costNanoUsd: number, tokens: number, spender?: Spender): void {
    this.startNewDay();
    const shared = costNanoUsd === 0 ? [] : this.sharedLimitsOf({ spender });
    const accounts = shared.map((one) => toSharedAccount(one, true));
    if (accounts.length > 0) void this.sharing?.take(accounts, costNanoUsd);
    for (const account of this.accountsOf({ spender })) account.spent += costNanoUsd;
    this.day.spent += costNanoUsd;
    this.tokens.spent += tokens;
  }

  /** Adds a session's cost from before this process started. */
  countSession(session: string, costNanoUsd: number): void {
    this.#sessions.open(session).spent += costNanoUsd;
  }

  /**
   * Sets the reader of the spending from before this process started. Without one, that spending is
   * zero.
   */
  recallFrom(read: ReadEarlierSpending): void {
    this.#recall = createRecall(read, (spent) => this.#countEarlier(spent), this.#clock);
  }

  /**
   * Reads the earlier spending unless already done; resolves when that has ended, successfully or
   * not.
   */
  async recall(): Promise<void> {
    await this.#recall?.pending()?.catch(() => undefined);
  }

  /**
   * Returns undefined if every limit set for `spender` can be checked; otherwise a promise that
   * resolves when they can. Rejects with `unavailable` if the earlier spending cannot be read.
   */
  whenChecked(spender?: Spender): Promise<void> | undefined {
    const { enabled, perSessionNanoUsd, perDayNanoUsd, perMonthNanoUsd } = this.#settings;
    const { perDayTokens, projects } = this.#settings;
    const looksBack =
      [perSessionNanoUsd, perDayNanoUsd, perMonthNanoUsd, perDayTokens].some(
        (limit) => limit !== null,
      ) || projects.has(spender?.project ?? '');
    return (enabled && looksBack) || hasLimit(spender?.key) ? this.#recall?.pending() : undefined;
  }

  configure(settings: SpendingSettings): void {
    this.#settings = settings;
  }

  /** Returns the state for `/health`. Amounts in nano-dollars. */
  view() {
    this.startNewDay();
    const { enabled, perRequestNanoUsd, perSessionNanoUsd, perDayNanoUsd } = this.#settings;
    const { perDayTokens, perMonthNanoUsd } = this.#settings;
    const month = this.#owners.current('month', this.#clock.wallMs());
    const left = [
      percentLeft(perDayNanoUsd, this.day),
      percentLeft(perDayTokens, this.tokens),
    ].filter((each) => each !== null);
    return {
      enabled,
      limits: {
        request: perRequestNanoUsd,
        session: perSessionNanoUsd,
        day: perDayNanoUsd,
        month: perMonthNanoUsd,
        tokens: perDayTokens,
      },
      /** The UTC day, `YYYY-MM-DD`. */
      day: new Date(this.#dayNumber * DAY_MS).toISOString().slice(0, 10),
      spentTodayNanoUsd: this.day.spent,
      /**
       * The UTC month, `YYYY-MM`, and its cost: since the start, or including earlier spending if
       * it is read.
       */
      month,
      spentMonthNanoUsd: this.#owners.peek('proxy', '', month)?.spent ?? 0,
      heldNanoUsd: this.day.held,
      tokensToday: this.tokens.spent,
      /**
       * The percentage that is left of the tighter limit of the day, 0 to 100; `null` without any.
       */
      dayLeftPercent: left.length === 0 ? null : Math.min(...left),
      /** Why the spending from before the start is unknown; undefined if it is known. */
      unreadable: this.#recall?.failure?.message,
      /**
       * Counts since the start: requests with a warning, blocked, allowed once, and without a known
       * price.
       */
      ...this.counts,
    };
  }

  /**
   * Returns the used percentage of the tightest limit of a project or a used key, as far as this
   * process knows; null without any.
   */
  ownersUsedPercent(): number | null {
    const { enabled, projects } = this.#settings;
    const used = (owner: 'key' | 'project') =>
      [...(owner === 'key' ? this.#keyLimits : projects)].flatMap(([name, limits]) =>
        this.#ownerLimits(owner, name, limits, 0).flatMap(([, limit, account]) => {
          const left = percentLeft(limit, account ?? { spent: 0, held: 0 });
          return left === null ? [] : [100 - left];
        }),
      );
    const all = [...used('key'), ...(enabled ? used('project') : [])];
    return all.length === 0 ? null : Math.max(...all);
  }

  /**
   * Returns what an owner has reserved and spent in the current period, as far as this process
   * knows.
   */
  accountOf(owner: Owner, name: string, period: Period): Readonly<Account> {
    const id = this.#owners.current(period, this.#clock.wallMs());
    return this.#owners.peek(owner, name, id) ?? { spent: 0, held: 0 };
  }

  accountsOf({ spender }: { readonly spender?: Spender | undefined }): readonly Account[] {
    const atMs = this.#clock.wallMs();
    const accounts = [this.#open('proxy', '', 'month', atMs)];
    for (const [owner, name] of [
      ['key', spender?.key?.label],
      ['project', spender?.project],
    ] as const)
      if (name !== undefined)
        accounts.push(this.#open(owner, name, 'day', atMs), this.#open(owner, name, 'month', atMs));
    return accounts;
  }

  sharedLimitsOf({ spender }: { readonly spender?: Spender | undefined }): readonly SharedLimit[] {
    if (this.sharing === undefined) return [];
    const { enabled, projects } = this.#settings;
    const project = enabled ? projects.get(spender?.project ?? '') : undefined;
    const atMs = this.#clock.wallMs();
    const of = (owner: 'key' | 'project', name = '', limits?: OwnerLimits) =>
      (['day', 'month'] as const).flatMap((period): SharedLimit[] => {
        const limit = period === 'day' ? limits?.perDayNanoUsd : limits?.perMonthNanoUsd;
        if (limit === undefined || limit === null) return [];
        return [
          {
            owner,
            name,
            period: this.#owners.current(period, atMs),
            untilMs: periodEndMs(period, atMs),
            account: this.#open(owner, name, period, atMs),
            scope: `${owner}_${period}`,
            limit,
          },
        ];
      });
    return [
      ...of('key', spender?.key?.label, spender?.key),
      ...of('project', spender?.project, project),
    ];
  }

  #open(owner: Owner, name: string, period: Period, atMs: number): Account {
    const isLimited = owner !== 'project' || this.#settings.projects.has(name);
    return this.#owners.open(owner, name, this.#owners.current(period, atMs), atMs, isLimited);
  }

  #countEarlier({ dayMs, costNanoUsd, tokens, owners, sessions }: EarlierSpending): void {
    const atMs = this.#clock.wallMs();
    // The spending may have been read just before midnight.
    if (dayMs === this.#today() * DAY_MS) {
      this.startNewDay();
      this.day.spent += costNanoUsd;
      this.tokens.spent += tokens;
    }
    for (const { owner, name, period, costNanoUsd: spent } of owners) {
      const isLimited = owner !== 'project' || this.#settings.projects.has(name);
      this.#owners.open(owner, name, period, atMs, isLimited).spent += spent;
    }
    for (const each of sessions) this.countSession(each.session, each.costNanoUsd);
  }

  /** Returns the limits that apply, narrowest first, with the usage of each. */
  #notes(request: SpendingRequest): SpendingNote[] {
    const { estimateNanoUsd, estimateTokens = 0, spender, isUnpredictable } = request;
    const { enabled, perRequestNanoUsd, perSessionNanoUsd, perDayNanoUsd } = this.#settings;
    const { perMonthNanoUsd, perDayTokens, projects } = this.#settings;
    const session = this.#sessions.peek(request.session);
    const atMs = this.#clock.wallMs();
    const [dayEndMs, monthEndMs] = [periodEndMs('day', atMs), periodEndMs('month', atMs)];
    const month = this.accountOf('proxy', '', 'month');
    const project = enabled ? projects.get(spender?.project ?? '') : undefined;
    const own: readonly Limit[] = [
      ['request', perRequestNanoUsd, undefined, estimateNanoUsd],
      ['session', perSessionNanoUsd, session, estimateNanoUsd],
      ['day', perDayNanoUsd, this.day, estimateNanoUsd, dayEndMs],
      ['month', perMonthNanoUsd, month, estimateNanoUsd, monthEndMs],
      ['tokens', perDayTokens, this.tokens, estimateTokens, dayEndMs],
    ];
    const limits = [
      ...(enabled ? own : []),
      ...this.#ownerLimits('key', spender?.key?.label, spender?.key, estimateNanoUsd),
      ...this.#ownerLimits('project', spender?.project, project, estimateNanoUsd),
    ];
    return limits.flatMap(([scope, limit, account, estimate, untilMs, name]) => {
      if (limit === null || estimate === null) return [];
      const used = account ? account.spent + account.held : 0;
      return {
        scope,
        limit,
        used,
        estimate,
        name,
        untilMs,
        ...(isUnpredictable && { isUnpredictable }),
      };
    });
  }

  /** Returns the limits of a key or a project, if any. */
  #ownerLimits(
    owner: 'key' | 'project',
    name: string | undefined,
    limits: OwnerLimits | undefined,
    estimate: number | null,
  ): readonly Limit[] {
    if (name === undefined || !hasLimit(limits)) return [];
    const { perDayNanoUsd, perMonthNanoUsd } = limits;
    const atMs = this.#clock.wallMs();
    const account = (period: Period) => this.accountOf(owner, name, period);
    const ends = (period: Period) => periodEndMs(period, atMs);
    return [
      [`${owner}_day`, perDayNanoUsd, account('day'), estimate, ends('day'), name],
      [`${owner}_month`, perMonthNanoUsd, account('month'), estimate, ends('month'), name],
    ];
  }

  isNear({ limit, used, estimate }: SpendingNote): boolean {
    return (used + estimate) * 100 >= limit * this.#settings.warnPercent;
  }

  startNewDay(): void {
    const today = this.#today();
    // Also when the clock is set back: spending dated tomorrow must not count until then.
    if (today === this.#dayNumber) return;
    this.#dayNumber = today;
    this.day.spent = 0;
    this.tokens.spent = 0;
  }

  #today(): number {
    return Math.floor(this.#clock.wallMs() / DAY_MS);
  }
}
