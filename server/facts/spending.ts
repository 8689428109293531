/**
 * The spending guard: its settings from the configuration, and its state for `/health` and `svc
 * spend`.
 */
import type { Clock } from '../../engine/index.ts';
import { MAX_SESSIONS } from '../../stages/budget/sessions.ts';
import { periodName, periodStartMs } from '../../stages/budget/owners.ts';
import type { OwnerSpending } from '../../stages/budget/owners.ts';
import type { LedgerReader } from '../../stages/ledger/tables.ts';
import type { EarlierSpending } from '../../stages/budget/earlier-spending.ts';
import type { SpendingGuard } from '../../stages/budget/guard.ts';
import type { SpendingSettings } from '../../stages/budget/spending.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { OneNode } from '../../stages/ledger/queries.ts';
import type { Config } from '../config/config.ts';
import type { LedgerQuestions } from '../control/ledger-questions.ts';
import type { Log } from '../log/log.ts';

const DAY_MS = 86_400_000;

/** Returns the limits in the guard's own units. */
export function spendingSettings({ budget }: Config): SpendingSettings {
  return {
    enabled: budget.enabled,
    perRequestNanoUsd: toNano(budget.perRequestUsd),
    perSessionNanoUsd: toNano(budget.perSessionUsd),
    perDayNanoUsd: toNano(budget.perDayUsd),
    perMonthNanoUsd: toNano(budget.perMonthUsd),
    projects: new Map(
      [...budget.projects].map(([name, { perDayUsd, perMonthUsd }]) => [
        name,
        { perDayNanoUsd: toNano(perDayUsd), perMonthNanoUsd: toNano(perMonthUsd) },
      ]),
    ),
    perDayTokens: budget.totalTokens,
    warnPercent: budget.warnPercent,
  };
}

/**
 * Reads from the ledger what the current UTC day and each session had cost before `startedMs`, for
 * one machine alone if several share it; later costs are counted by the guard itself. Conversations
 * without a client's session id are not separate in the ledger: they start at zero.
 */
export async function spentBefore(
  ledger: LedgerQuestions,
  clock: Clock,
  startedMs: number,
  only?: OneNode,
): Promise<EarlierSpending> {
  const dayMs = Math.floor(clock.wallMs() / DAY_MS) * DAY_MS;
  const isNewDay = dayMs >= startedMs;
  return ledger.ask(async (reader, queries) => ({
    dayMs,
    ...(isNewDay
      ? { costNanoUsd: 0, tokens: 0 }
      : await queries.spendingIn(reader, { sinceMs: dayMs, untilMs: startedMs }, only)),
    owners: await ownersSpent(queries, reader, clock.wallMs(), startedMs, only),
    sessions: await queries.sessionSpending(reader, startedMs, MAX_SESSIONS, only),
  }));
}

type Queries = Parameters<Parameters<LedgerQuestions['ask']>[0]>[1];

/**
 * Returns the spending of keys and projects in the current day and month, and of the proxy in the
 * month, before `untilMs`.
 */
async function ownersSpent(
  queries: Queries,
  reader: LedgerReader,
  nowMs: number,
  untilMs: number,
  only?: OneNode,
): Promise<OwnerSpending[]> {
  const sums = new Map<string, OwnerSpending>();
  for (const period of ['day', 'month'] as const) {
    const sinceMs = periodStartMs(period, nowMs);
    if (sinceMs >= untilMs) continue;
    const name = periodName(period, nowMs);
    for (const spent of await queries.costByOwner(reader, { sinceMs, untilMs }, only)) {
      const { owner, name: of, costNanoUsd } = spent;
      // The proxy's day is read separately, by the end times of requests.
      if (owner === 'proxy' && period === 'day') continue;
      sums.set(`${owner}\0${of}\0${name}`, { owner, name: of, period: name, costNanoUsd });
    }
  }
  return [...sums.values()];
}

/**
 * Loads earlier spending in advance, and logs a failure: requests are refused until it succeeds.
 */
export async function recallSpending(guard: SpendingGuard, log: Log): Promise<void> {
  await guard.recall();
  const { unreadable } = guard.view();
  if (unreadable !== undefined)
    log.error('what was spent before the start cannot be read', { why: unreadable });
}

/**
 * Returns `/health.budget` and the response of `svc spend status`. Dollars; null if nothing is
 * set.
 */
export function spendingJson(guard: SpendingGuard) {
  const view = guard.view();
  const { request, session, day, month, tokens } = view.limits;
  return {
    enabled: view.enabled,
    total_tokens: tokens ?? 0,
    limits: {
      per_request_usd: toUsd(request),
      per_session_usd: toUsd(session),
      per_day_usd: toUsd(day),
      per_month_usd: toUsd(month),
      tokens_per_day: tokens,
    },
    day: view.day,
    spent_usd: toUsd(view.spentTodayNanoUsd),
    month: view.month,
    spent_month_usd: toUsd(view.spentMonthNanoUsd),
    held_usd: toUsd(view.heldNanoUsd),
    tokens: view.tokensToday,
    left_percent: view.dayLeftPercent,
    warned: view.warned,
    blocked: view.blocked,
    allowed_once: view.allowedOnce,
    unpriced: view.unpriced,
  };
}

/**
 * Returns the used share of the tightest limit of the day or the month, in percent; null if none is
 * in force.
 */
export function budgetUsedPercent(guard: SpendingGuard): number | null {
  const { enabled, dayLeftPercent, limits, spentMonthNanoUsd } = guard.view();
  if (!enabled) return null;
  const used = [
    ...(dayLeftPercent === null ? [] : [100 - dayLeftPercent]),
    ...(limits.month === null || limits.month === 0
      ? []
      : [(100 * spentMonthNanoUsd) / limits.month]),
  ];
  return used.length === 0 ? null : Math.max(...used);
}

function toNano(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * 1e9);
}
