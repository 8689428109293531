/** What a month cost and saved: the figures of `svc report --month`, before they have a form. */
import type { LedgerReader } from '../../stages/ledger/tables.ts';
import { addTotals } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { GroupKey } from '../../stages/ledger/queries.ts';
import type { LedgerQueries } from '../ledger.ts';

/** What a month can be grouped by beside the model, with the column of the ledger. */
export const MONTH_KEYS = {
  project: 'project',
  key: 'keyLabel',
  agent: 'client',
  provider: 'provider',
  node: 'node',
} as const satisfies Record<string, GroupKey>;

export type MonthKey = keyof typeof MONTH_KEYS;

export const MONTH_KEY_NAMES = Object.keys(MONTH_KEYS) as readonly MonthKey[];

/** The requests of one day that have the same name and model. */
export interface MonthRow {
  /** `2026-11-26`, a UTC day. */
  readonly date: string;
  /** The project, key or whatever was asked for; null where no request says, undefined where none was asked for. */
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
  /** Where the report ends: the month's end, or now while it is not over. */
  readonly untilMs: number;
  readonly isOver: boolean;
  /** When the report was made. */
  readonly madeMs: number;
  /** By day, then name, then model. */
  readonly rows: readonly MonthRow[];
  readonly totals: Totals;
  readonly byModel: readonly NamedTotals[];
  /** Empty where nothing beside the model was asked for. */
  readonly byName: readonly NamedTotals[];
  /** Every day up to the end, those without a request too. */
  readonly byDay: readonly { readonly date: string; readonly totals: Totals }[];
}

const DAY_MS = 86_400_000;

/** The first moment of `month` and of the one after it; undefined for what is no month, such as `2026-13`. */
export function monthSpan(
  month: string,
): { readonly sinceMs: number; readonly untilMs: number } | undefined {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined || number === undefined) return undefined;
  const [sinceMs, untilMs] = [0, 1].map((later) => Date.UTC(+year, +number - 1 + later));
  return { sinceMs: sinceMs!, untilMs: untilMs! };
}

/** Asks the ledger once: every sum of the report is one of the same rows, and they add up. */
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

/** By code units, so that the report is the same on every machine; what is not known comes first. */
function order(a: string | null, b: string | null): number {
  const [left, right] = [a ?? '', b ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
