/**
 * Spending of each key or project in the current UTC day and month, with its limits: `svc spend
 * status --by`.
 */
import { periodName, periodStartMs } from '../../stages/budget/owners.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { CliContext } from '../context.ts';
import { withLedger } from '../ledger.ts';
import { keyStoreOf } from './key-store.ts';
import { configInUse } from '../parse/config-in-use.ts';

/** Kinds of owners. */
export const OWNERS = ['key', 'project'] as const;

/** Dollars per day and month; null for no limit. */
interface Limits {
  readonly perDayUsd: number | null;
  readonly perMonthUsd: number | null;
}

export type OwnerSpending = Awaited<ReturnType<typeof ownerSpending>>;

/**
 * Returns the spending of each owner that has spent anything this month or has a limit, in dollars,
 * highest month first. Costs of running requests are not included. Rejects if ledger, keys or
 * configuration cannot be read.
 */
export async function ownerSpending(
  context: CliContext,
  configFile: string | undefined,
  by: (typeof OWNERS)[number],
) {
  const nowMs = context.clock.wallMs();
  const { config } = await configInUse(configFile, context);
  const limits =
    by === 'key' ? await limitsOfKeys(context, configFile, nowMs) : config.budget.projects;
  const [today, thisMonth] = await withLedger(context, configFile, async (reader, queries) => {
    const spentSince = async (sinceMs: number) => {
      const costs = await queries.costByOwner(reader, { sinceMs });
      return new Map(
        costs.filter(({ owner }) => owner === by).map((one) => [one.name, one.costNanoUsd]),
      );
    };
    return [
      await spentSince(periodStartMs('day', nowMs)),
      await spentSince(periodStartMs('month', nowMs)),
    ];
  });
  const limited = [...limits]
    .filter(([, { perDayUsd, perMonthUsd }]) => (perDayUsd ?? perMonthUsd) !== null)
    .map(([name]) => name);
  const names = [...new Set([...thisMonth.keys(), ...limited])];
  const spending = names
    .map((name) => ({
      name,
      day: periodJson(today.get(name), limits.get(name)?.perDayUsd),
      month: periodJson(thisMonth.get(name), limits.get(name)?.perMonthUsd),
    }))
    .toSorted((a, b) => b.month.spent_usd - a.month.spent_usd || (a.name < b.name ? -1 : 1));
  return {
    by,
    day: periodName('day', nowMs),
    month: periodName('month', nowMs),
    guard: config.budget.enabled ? ('on' as const) : ('off' as const),
    spending,
  };
}

function periodJson(spentNanoUsd = 0, limitUsd: number | null = null) {
  const spent = toUsd(spentNanoUsd);
  const left =
    limitUsd === null ? null : limitUsd === 0 ? 0 : Math.max(0, 100 * (1 - spent / limitUsd));
  return { spent_usd: spent, limit_usd: limitUsd, left_percent: left };
}

/**
 * Returns the limits of valid keys by label; of several keys with one label, those of the newest.
 */
async function limitsOfKeys(
  context: CliContext,
  configFile: string | undefined,
  nowMs: number,
): Promise<ReadonlyMap<string, Limits>> {
  const keys = await (await keyStoreOf(context, configFile)).list();
  const live = keys.filter(
    ({ revoked, expires }) =>
      revoked === undefined && (expires === undefined || Date.parse(expires) > nowMs),
  );
  return new Map(
    live.map(({ id, label, perDayUsd = null, perMonthUsd = null }) => [
      label === '' ? id : label,
      { perDayUsd, perMonthUsd },
    ]),
  );
}
