/** What a month cost and saved: the figures of `svc report --month`, before formatting. */
import type { LedgerReader } from '../../stages/ledger/tables.ts';
import { addTotals } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { GroupKey } from '../../stages/ledger/queries.ts';
import type { LedgerQueries } from '../ledger.ts';

/** Groupings besides the model, with their ledger column. */
export const MONTH_KEYS = {
  project: 'project',
  key: 'keyLabel',
  agent: 'client',
  provider: 'provider',
  node: 'node',
} as const satisfies Record<string, GroupKey>;

export type MonthKey = keyof typeof MONTH_KEYS;

export const MONTH_KEY_NAMES = Object.keys(MONTH_KEYS) as readonly MonthKey[];

/** The requests of one day with the same name and model. */
export interface MonthRow {
  /** A UTC day such as `2026-11-26`. */
  readonly date: string;
  /**
   * The project, key or other grouping; null if the requests have none, undefined without a
   * grouping.
   */
  readonly name: string | null | undefined;
  readonly model: string | null;
  readonly totals: Totals;
}

export interface NamedTotals {
  readonly name: string | null;
  readonly totals: Totals;
}

export interface MonthReport {
  /** `2026-11`. */
  readonly month: string;
  readonly by: MonthKey | undefined;
  readonly sinceMs: number;
  /** End of the report: the month's end, or now if it is not over. */
  readonly untilMs: number;
  readonly isOver: boolean;
  /** When the report was made. */
  readonly madeMs: number;
  /** Sorted by day, then name, then model. */
  readonly rows: readonly MonthRow[];
  readonly totals: Totals;
  readonly byModel: readonly NamedTotals[];
  /** Empty without a grouping. */
  readonly byName: readonly NamedTotals[];
  /** Every day up to the end, including those without requests. */
  readonly byDay: readonly { readonly date: string; readonly totals: Totals }[];
}

const DAY_MS = 86_400_000;

/**
 * Returns the first moment of `month` and of the next month; undefined for an invalid month, such
 * as `2026-13`.
 */
export function monthSpan(
  month: string,
): { readonly sinceMs: number; readonly untilMs: number } | undefined {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined || number === undefined) return undefined;
  const [sinceMs, untilMs] = [0, 1].map((later) => Date.UTC(+year, +number - 1 + later));
  return { sinceMs: sinceMs!, untilMs: untilMs! };
}

/** Runs one query: all sums of the report come from the same rows, so they add up. */
export async function monthReport(
  reader: LedgerReader,
  queries: LedgerQueries,
  { month, by, nowMs }: { month: string; by: MonthKey | undefined; nowMs: number },
): Promise<MonthReport> {
  const { sinceMs, untilMs: endMs } = monthSpan(month)!;
  const isOver = endMs <= nowMs;
  const keys: readonly GroupKey[] = by === undefined ? ['model'] : [MONTH_KEYS[by], 'model'];
  const groups = await queries.totalsByDayAnd(reader, keys, { sinceMs, untilMs: endMs });
  const rows = groups
    .map(({ date, names, totals }) => ({
      date,
      name: by === undefined ? undefined : (names[0] ?? null),
      model: names.at(-1) ?? null,
      totals,
    }))
    .toSorted(
      (a, b) =>
        order(a.date, b.date) || order(a.name ?? '', b.name ?? '') || order(a.model, b.model),
    );
  const lastMs = isOver ? endMs - DAY_MS : Math.max(sinceMs, Math.min(nowMs, endMs - 1));
  const days = groupBy(rows, ({ date }) => date);
  const dates: string[] = [];
  for (let dayMs = sinceMs; dayMs <= lastMs; dayMs += DAY_MS)
    dates.push(new Date(dayMs).toISOString().slice(0, 10));
  return {
    month,
    by,
    sinceMs,
    untilMs: isOver ? endMs : Math.max(sinceMs, nowMs),
    isOver,
    madeMs: nowMs,
    rows,
    totals: addTotals(rows.map(({ totals }) => totals)),
    byModel: dearestFirst(groupBy(rows, ({ model }) => model)),
    byName: by === undefined ? [] : dearestFirst(groupBy(rows, ({ name }) => name ?? null)),
    byDay: dates.map((date) => ({ date, totals: days.get(date) ?? addTotals([]) })),
  };
}

function groupBy<K>(rows: readonly MonthRow[], keyOf: (row: MonthRow) => K): Map<K, Totals> {
  const parts = new Map<K, Totals[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const list = parts.get(key);
    if (list === undefined) parts.set(key, [row.totals]);
    else list.push(row.totals);
  }
  return new Map([...parts].map(([key, totals]) => [key, addTotals(totals)]));
}

function dearestFirst(groups: ReadonlyMap<string | null, Totals>): readonly NamedTotals[] {
  return [...groups]
    .map(([name, totals]) => ({ name, totals }))
    .toSorted(
      (a, b) =>
        b.totals.costNanoUsd - a.totals.costNanoUsd ||
        b.totals.requests - a.totals.requests ||
        order(a.name, b.name),
    );
}

/**
 * Sorts by code units, so that the report is the same on every machine; unknown names come first.
 */
function order(a: string | null, b: string | null): number {
  const [left, right] = [a ?? '', b ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
