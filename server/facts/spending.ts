/** The spending guard as the configuration sets it, and as `/health` and `svc spend` show it. */
import type { Clock } from '../../engine/index.ts';
import { MAX_SESSIONS } from '../../stages/budget/sessions.ts';
import type { SpentBefore } from '../../stages/budget/recall.ts';
import type { SpendingGuard } from '../../stages/budget/guard.ts';
import type { SpendingSettings } from '../../stages/budget/spending.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { OneNode } from '../../stages/ledger/queries.ts';
import type { Config } from '../config/config.ts';
import type { LedgerQuestions } from '../control/ledger-questions.ts';
import type { Log } from '../log/log.ts';

const DAY_MS = 86_400_000;

/** The limits in the guard's own units. */
export function spendingSettings({ budget }: Config): SpendingSettings {
  return {
    enabled: budget.enabled,
    perRequestNanoUsd: toNano(budget.perRequestUsd),
    perSessionNanoUsd: toNano(budget.perSessionUsd),
    perDayNanoUsd: toNano(budget.perDayUsd),
    perDayTokens: budget.totalTokens,
    warnPercent: budget.warnPercent,
  };
}

/**
 * What the present UTC day and each session had cost before `startedMs`, from the ledger, of one
 * machine alone where several share it; what comes later the guard sees itself. Conversations
 * whose client names no session are not in the ledger by themselves: those begin anew.
 */
export async function spentBefore(
  ledger: LedgerQuestions,
  clock: Clock,
  startedMs: number,
  only?: OneNode,
): Promise<SpentBefore> {
  const dayMs = Math.floor(clock.wallMs() / DAY_MS) * DAY_MS;
  const isNewDay = dayMs >= startedMs;
  return ledger.ask(async (reader, queries) => ({
    dayMs,
    ...(isNewDay
      ? { costNanoUsd: 0, tokens: 0 }
      : await queries.spentIn(reader, { sinceMs: dayMs, untilMs: startedMs }, only)),
    sessions: await queries.sessionsSpent(reader, startedMs, MAX_SESSIONS, only),
  }));
}

/** Reads that before anybody needs it, and logs where it cannot be read: requests are refused until it can. */
export async function recallSpending(guard: SpendingGuard, log: Log): Promise<void> {
  await guard.recall();
  const { unreadable } = guard.view();
  if (unreadable !== undefined)
    log.error('what was spent before the start cannot be read', { why: unreadable });
}

/** `/health.budget` and the answer of `svc spend status`. Dollars; null where nothing is set. */
export function spendingJson(guard: SpendingGuard) {
  const view = guard.view();
  const { request, session, day, tokens } = view.limits;
  return {
    enabled: view.enabled,
    total_tokens: tokens ?? 0,
    limits: {
      per_request_usd: toUsd(request),
      per_session_usd: toUsd(session),
      per_day_usd: toUsd(day),
      tokens_per_day: tokens,
    },
    day: view.day,
    spent_usd: toUsd(view.spentTodayNanoUsd),
    held_usd: toUsd(view.heldNanoUsd),
    tokens: view.tokensToday,
    left_percent: view.dayLeftPercent,
    warned: view.warned,
    blocked: view.blocked,
    allowed_once: view.allowedOnce,
    unpriced: view.unpriced,
  };
}

/** How much of the tightest limit of the day is used, in percent; null where none is in force. */
export function budgetUsedPercent(guard: SpendingGuard): number | null {
  const { enabled, dayLeftPercent } = guard.view();
  return enabled && dayLeftPercent !== null ? 100 - dayLeftPercent : null;
}

function toNano(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * 1e9);
}
