/**
 * What is wrong, in words: the one definition of a degraded proxy, for `/health`, `svc status` and
 * the dashboards.
 */
import type { ActiveAlert } from '../alerts/active.ts';
import type { LimitJson } from '../facts/limits.ts';
import type { ProviderStateJson } from '../facts/provider-states.ts';
import type { spendingJson } from '../facts/spending.ts';
import { NONE } from './amounts.ts';
import { counted } from './counted.ts';
import { spanOf } from './span.ts';

export type Tone = 'good' | 'warn' | 'bad';

type Attempts = ProviderStateJson['tries'];

/** `tries` is missing from a proxy of an older version, which may still run after an update. */
export type Provider = Omit<ProviderStateJson, 'tries'> & { readonly tries?: Attempts };

/** With this many failures in a row, or if every attempt failed, a provider is considered down. */
const MAX_FAILED_IN_ROW = 3;

/**
 * Returns a provider's condition in a word or two and its severity; a dash if nothing was sent to
 * it.
 */
export function conditionOf({
  stopped,
  breaker,
  health,
  tries,
}: Provider): readonly [word: string, kind: Tone | undefined] {
  if (stopped !== null) return ['stopped', 'bad'];
  if (breaker.state === 'open')
    return [
      `breaker open${breaker.open_for_s > 0 ? `, ${spanOf(breaker.open_for_s)} left` : ''}`,
      'bad',
    ];
  if (health.state !== 'healthy') return ['unhealthy', 'bad'];
  if (breaker.state !== 'closed') return ['probing', 'warn'];
  if (tries === undefined) return ['healthy', 'good'];
  if (!tries.ever) return [NONE, undefined];
  if (tries.failed_in_row > 0 && tries.failed_in_row === tries.last_hour)
    return [`refuses ${tries.failed_in_row === 1 ? 'the only attempt' : 'every attempt'}`, 'bad'];
  if (tries.failed_in_row >= MAX_FAILED_IN_ROW)
    return [`last ${counted(tries.failed_in_row, 'attempt')} failed`, 'bad'];
  return tries.failed_last_hour > 0 ? ['works, some attempts failed', 'warn'] : ['healthy', 'good'];
}

type Budget = ReturnType<typeof spendingJson>;

/** The tighter one of the daily and the monthly limit. */
export interface BudgetLeft {
  readonly of: 'day' | 'month';
  /** 0 to 100; negative if more was spent. */
  readonly percent: number;
  /** Dollars; null if the limit is in tokens. */
  readonly limit: number | null;
  readonly spent: number | null;
}

/** Returns what is left of the budget; undefined if no limit is in force. */
export function budgetLeft(budget: Budget): BudgetLeft | undefined {
  if (!budget.enabled) return undefined;
  const { per_day_usd: day, per_month_usd: month } = budget.limits;
  const { left_percent: left, spent_usd: spent, spent_month_usd: spentInMonth } = budget;
  const found: BudgetLeft[] = [];
  if (left !== null) found.push({ of: 'day', percent: left, limit: day, spent });
  if (month !== null && month > 0) {
    const used = (100 * (spentInMonth ?? 0)) / month;
    found.push({ of: 'month', percent: 100 - used, limit: month, spent: spentInMonth });
  }
  return found.toSorted((a, b) => a.percent - b.percent)[0];
}

/** Returns the windows of plans that have not started again since they were reported. */
export function currentPlans(limits: readonly LimitJson[], nowMs: number): readonly LimitJson[] {
  return limits.filter(
    ({ kind, resets_at: at }) => kind === 'plan' && !(at !== null && Date.parse(at) <= nowMs),
  );
}

/** Returns `5h of messages`. */
export function planName({ window, provider }: LimitJson): string {
  return `${window} of ${provider}`;
}

export function isUsedUp({ used, status }: LimitJson): boolean {
  return used >= 1 || status === 'rejected';
}

/** A problem, in words without a full stop at the end. */
export interface Problem {
  readonly about: 'alert' | 'budget' | 'plan';
  readonly text: string;
}

/** Where problems are found; an older version does not send the limits. */
export interface Watched {
  readonly alerts: readonly ActiveAlert[];
  readonly budget: Budget;
  readonly limits?: readonly LimitJson[];
}

/** Returns the problems besides those of providers (`conditionOf`) and of svc's own parts. */
export function problemsOf(
  { alerts, budget, limits = [] }: Watched,
  nowMs: number,
): readonly Problem[] {
  const left = budgetLeft(budget);
  const plans = currentPlans(limits, nowMs).filter(isUsedUp).map(planName);
  const budgets =
    left === undefined || left.percent > 0
      ? []
      : [`The budget of the ${left.of} is used up: requests are refused`];
  return [
    ...alerts.map(({ text }) => ({ about: 'alert', text: `Alert ${text}` }) as const),
    ...budgets.map((text) => ({ about: 'budget', text }) as const),
    ...[...new Set(plans)].map(
      (name) => ({ about: 'plan', text: `Plan ${name}: used up` }) as const,
    ),
  ];
}
