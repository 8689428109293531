/**
 * Queries of the ledger. All figures are those of `figures.ts`; days are UTC days. The SQL works in
 * a file and in Postgres; for the exceptions, `dialect.ts` tells which database it is.
 */
import { sql } from 'kysely';
import type { LedgerReader } from './tables.ts';
import type { Totals } from './figures.ts';
import { addTotals, emptyTotals } from './figures.ts';
import type { LedgerRow } from './row.ts';
import { NEWEST_FIRST, orderTerms } from './row-order.ts';
import type { RowOrder } from './row-order.ts';
import { FAILED, inSpan, selectMatching, sumsBy } from './sums.ts';
import type { GroupKey, RowFilter, TimeSpan } from './sums.ts';
import { fromStored } from './tables.ts';

export { attemptSums } from './attempts.ts';
export { missReport } from './misses.ts';
export { costByOwner, sessionSpending, spendingIn } from './spending.ts';
export type { OneNode, OwnerCost } from './spending.ts';
export { toolSums } from './tools/tool-sums.ts';
export type { GroupKey, RowFilter, TimeSpan } from './sums.ts';

/** The sums of one group; `key` is `null` for requests without a known value. */
export interface GroupTotals extends Totals {
  readonly key: string | null;
}

/** The sums of one UTC day, named `YYYY-MM-DD`. */
export interface DayTotals extends Totals {
  readonly date: string;
}

/** What compression has saved, as `/savings` and `svc savings` report it. */
export interface SavingsReport {
  readonly totals: Totals;
  /** Most saved tokens first. */
  readonly byModel: readonly GroupTotals[];
  /**
   * The last seven UTC days up to today, as far as the report goes back; oldest first, including
   * days without requests.
   */
  readonly byDate7d: readonly DayTotals[];
}

export const DAY_MS = 86_400_000;
const ALL: TimeSpan = { sinceMs: 0 };

/** Returns the sums over all requests of the span. */
export async function totalsOf(db: LedgerReader, span: TimeSpan = ALL): Promise<Totals> {
  return addTotals((await sumsBy(db, [], span)).map(({ totals }) => totals));
}

/**
 * Returns the latency that `share` (0 to 1) of the span's timed requests do not exceed, in
 * milliseconds: by nearest rank, the latency of an actual request; `null` if none was timed. Based
 * on the rows that are still kept.
 */
export async function latencyPercentile(
  db: LedgerReader,
  span: TimeSpan,
  share: number,
): Promise<number | null> {
  const { timed } = await inSpan(db, span)
    .select((eb) => eb.fn.count<number>('latencyMs').as('timed'))
    .executeTakeFirstOrThrow();
  if (timed === 0) return null;
  const row = await inSpan(db, span)
    .where('latencyMs', 'is not', null)
    .select('latencyMs')
    .orderBy('latencyMs')
    .limit(1)
    .offset(Math.max(0, Math.ceil(share * timed) - 1))
    .executeTakeFirst();
  return row?.latencyMs ?? null;
}

/** Returns the sums for each value of a column, most requests first. */
export async function totalsBy(
  db: LedgerReader,
  key: GroupKey,
  filter: RowFilter = ALL,
): Promise<GroupTotals[]> {
  const groups = await sumsBy(db, [key], filter);
  return groups
    .map(({ keys: [name = null], totals }) => ({ key: name, ...totals }))
    .toSorted(mostRequestsFirst);
}

/** Compares groups of one column for sorting. */
export function mostRequestsFirst(a: GroupTotals, b: GroupTotals): number {
  return b.requests - a.requests || compareKeys(a.key, b.key);
}

/**
 * Returns the sums for each combination of two or three columns, most saved tokens first, at most
 * `max` of them.
 */
export async function totalsByAll(
  db: LedgerReader,
  keys: readonly GroupKey[],
  span: TimeSpan = ALL,
  max = 1000,
): Promise<readonly (Totals & { readonly [K in GroupKey]?: string | null })[]> {
  const groups = await sumsBy(db, keys, span);
  return groups
    .toSorted(
      ({ totals: a }, { totals: b }) => b.savedTokens - a.savedTokens || b.requests - a.requests,
    )
    .slice(0, max)
    .map(({ keys: names, totals }) => ({
      ...Object.fromEntries(keys.map((key, at) => [key, names[at] ?? null])),
      ...totals,
    }));
}

/** Sorts as SQL does: null first. */
function compareKeys(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  return b === null || a > b ? 1 : -1;
}

/** Returns the newest requests that match `filter`, newest first. */
export async function newestRows(
  db: LedgerReader,
  filter: RowFilter,
  max: number,
): Promise<LedgerRow[]> {
  return orderedRows(db, filter, { order: NEWEST_FIRST, offset: 0, max });
}

/** A page of a list in some order. */
export interface ListPart {
  readonly order: RowOrder;
  /** Rows of the list before the first requested one. */
  readonly offset: number;
  readonly max: number;
}

/** Returns a page of the requests that match `filter`. */
export async function orderedRows(
  db: LedgerReader,
  filter: RowFilter,
  { order, offset, max }: ListPart,
): Promise<LedgerRow[]> {
  const rows = await orderTerms(db, order)
    .reduce((query, term) => query.orderBy(term), selectMatching(db, filter).selectAll())
    .limit(max)
    .offset(offset)
    .execute();
  return rows.map(fromStored);
}

/** Returns the number of the row stored last, as `rowsStored` counts; 0 if there is none. */
export async function newestNumber(db: LedgerReader): Promise<number> {
  const { newest } = await db
    .selectFrom('requests')
    .select(sql<number>`coalesce(max(rowid), 0)`.as('newest'))
    .executeTakeFirstOrThrow();
  return newest;
}

/** Returns the matching requests stored after number `after` up to number `upto`, in that order. */
export async function rowsStored(
  db: LedgerReader,
  filter: RowFilter,
  after: number,
  upto: number,
): Promise<LedgerRow[]> {
  const rows = await selectMatching(db, filter)
    .where(sql<boolean>`rowid > ${after} AND rowid <= ${upto}`)
    .selectAll()
    .orderBy(sql`rowid`)
    .execute();
  return rows.map(fromStored);
}

/**
 * Returns the first `max` requests of the span that began after `last`, or at the same time with a
 * greater id; oldest first.
 */
export async function rowsFrom(
  db: LedgerReader,
  span: TimeSpan,
  last: Pick<LedgerRow, 'startedMs' | 'id'> | undefined,
  max: number,
): Promise<LedgerRow[]> {
  const sinceMs = Math.max(span.sinceMs, last?.startedMs ?? span.sinceMs);
  const rows = await inSpan(db, { ...span, sinceMs })
    .$if(last !== undefined, (query) =>
      query.where((eb) => eb.or([eb('startedMs', '>', last!.startedMs), eb('id', '>', last!.id)])),
    )
    .selectAll()
    .orderBy('startedMs')
    .orderBy('id')
    .limit(max)
    .execute();
  return rows.map(fromStored);
}

/** Returns the request with exactly this id. */
export async function rowWithId(db: LedgerReader, id: string): Promise<LedgerRow | undefined> {
  const row = await db.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : fromStored(row);
}

/** Returns the sums of each UTC day that had requests, oldest first. */
export async function totalsByDay(db: LedgerReader, span: TimeSpan = ALL): Promise<DayTotals[]> {
  const days = await sumsBy(db, [], span, DAY_MS);
  return days
    .toSorted((a, b) => a.step - b.step)
    .map(({ step, totals }) => ({ date: dateOf(step * DAY_MS), ...totals }));
}

/** Returns the sums of each UTC day and combination of `keys` that had requests, unordered. */
export async function totalsByDayAnd(
  db: LedgerReader,
  keys: readonly GroupKey[],
  span: TimeSpan,
): Promise<readonly { date: string; names: readonly (string | null)[]; totals: Totals }[]> {
  const groups = await sumsBy(db, keys, span, DAY_MS);
  return groups.map(({ step, keys: names, totals }) => ({
    date: dateOf(step * DAY_MS),
    names,
    totals,
  }));
}

/** Returns the sums of the UTC day of `nowMs`. */
export async function totalsOfToday(db: LedgerReader, nowMs: number): Promise<Totals> {
  return totalsOf(db, { sinceMs: startOfDay(nowMs) });
}

/** Returns the same for one of the machines that share the ledger. */
export async function totalsOfNodeToday(
  db: LedgerReader,
  nowMs: number,
  node: string | null,
): Promise<Totals> {
  const groups = await totalsBy(db, 'node', { sinceMs: startOfDay(nowMs) });
  return addTotals(groups.filter(({ key }) => key === node));
}

/** Returns what was saved since `sinceMs`, and day by day in the last seven days. */
export async function savingsReport(
  db: LedgerReader,
  nowMs: number,
  sinceMs = 0,
): Promise<SavingsReport> {
  const [totals, byModel, byDate7d] = await Promise.all([
    totalsOf(db, { sinceMs }),
    totalsBy(db, 'model', { sinceMs }),
    lastDays(db, nowMs, 7, sinceMs),
  ]);
  byModel.sort((a, b) => b.savedTokens - a.savedTokens);
  return { totals, byModel, byDate7d };
}

/**
 * Returns the sums of the last `days` UTC days up to the one of `nowMs`, oldest first, counting
 * only requests that began at `sinceMs` or later; a day without requests is all zeros.
 */
export async function lastDays(
  db: LedgerReader,
  nowMs: number,
  days: number,
  sinceMs = 0,
): Promise<DayTotals[]> {
  const endMs = startOfDay(nowMs) + DAY_MS;
  const span = { sinceMs: Math.max(endMs - days * DAY_MS, sinceMs), untilMs: endMs };
  const found = new Map((await totalsByDay(db, span)).map((day) => [day.date, day]));
  const shown: DayTotals[] = [];
  for (let dayMs = startOfDay(span.sinceMs); dayMs < endMs; dayMs += DAY_MS) {
    const date = dateOf(dayMs);
    shown.push(found.get(date) ?? { date, ...emptyTotals() });
  }
  return shown;
}

/**
 * Returns how many requests of the span failed with each status, most first; `null` means no
 * response at all.
 */
async function failuresByStatus(
  db: LedgerReader,
  span: TimeSpan,
): Promise<readonly { readonly status: number | null; readonly requests: number }[]> {
  return inSpan(db, span)
    .where(FAILED)
    .select((eb) => ['status', eb.fn.countAll<number>().as('requests')])
    .groupBy('status')
    .orderBy('requests', 'desc')
    .orderBy('status', (by) => by.asc().nullsFirst())
    .execute();
}

/** The last day, as the dashboard shows it. */
export interface DayReport {
  readonly totals: Totals;
  readonly byModel: readonly GroupTotals[];
  readonly failures: readonly { readonly status: number | null; readonly requests: number }[];
}

/** Returns the report of the 24 hours before `nowMs`. */
export async function lastDayReport(db: LedgerReader, nowMs: number): Promise<DayReport> {
  const span = { sinceMs: nowMs - DAY_MS };
  const [totals, byModel, failures] = await Promise.all([
    totalsOf(db, span),
    totalsBy(db, 'model', span),
    failuresByStatus(db, span),
  ]);
  return { totals, byModel, failures };
}

function startOfDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

/** Returns the UTC day of a time, `YYYY-MM-DD`. */
export function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
