/**
 * The questions asked of the ledger file. All figures are those of `figures.ts`;
 * days are UTC days. Portable SQL only, so that another database can answer.
 */
import type { ExpressionBuilder, RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { LedgerReader } from './database.ts';
import type { Totals } from './figures.ts';
import { addTotals, emptyTotals } from './figures.ts';
import { HOUR_MS, HOUR_KEYS } from './hours.ts';
import type { HourKey } from './hours.ts';
import type { LedgerRow } from './row.ts';
import { fromStored } from './tables.ts';
import type { LedgerSchema } from './tables.ts';

/** What requests can be grouped by. */
export type GroupKey = 'model' | 'provider' | 'client' | 'skill' | 'sessionId' | 'node' | 'mode';

/** From `sinceMs` (inclusive) to `untilMs` (exclusive), milliseconds since the epoch. */
export interface TimeSpan {
  readonly sinceMs: number;
  readonly untilMs?: number;
}

/** The sums of one group; `key` is `null` for requests in which it was not known. */
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
  /** The last seven UTC days up to today, oldest first, days without requests included. */
  readonly byDate7d: readonly DayTotals[];
}

const DAY_MS = 86_400_000;
/** Must mean what `isFailure` does. */
export const FAILED = sql<boolean>`(outcome in ('error', 'partial') or coalesce(status, 0) >= 400)`;
const ALL: TimeSpan = { sinceMs: 0 };

/** The sums over all requests of the span. */
export async function totalsOf(db: LedgerReader, span: TimeSpan = ALL): Promise<Totals> {
  return addTotals(await sumsBy(db, [], span));
}

/**
 * The latency that `share` (0 to 1) of the span's timed requests do not exceed, in milliseconds:
 * by nearest rank, one that some request really had; `null` where none was timed. It rests on the
 * rows that are still kept.
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

/** What was spent from `sinceMs` on. */
export interface Spent {
  readonly costNanoUsd: number;
  /** Sent input and output; kept answers took none. */
  readonly tokens: number;
}

/** What the requests have spent that began before the end of `span` and ended in it. */
export async function spentIn(db: LedgerReader, span: Required<TimeSpan>): Promise<Spent> {
  const began = { sinceMs: span.sinceMs - DAY_MS, untilMs: span.untilMs };
  return inSpan(db, began)
    .where(sql`started_ms + coalesce(latency_ms, 0)`, '>=', span.sinceMs)
    .where(sql`coalesce(cache_hit, 0)`, '=', 0)
    .select([
      sum('costNanoUsd').as('costNanoUsd'),
      sql<number>`coalesce(sum(coalesce(input_tokens_sent, 0) + coalesce(output_tokens, 0)), 0)`.as(
        'tokens',
      ),
    ])
    .executeTakeFirstOrThrow();
}

/** What one session of a client has spent. */
export interface SessionSpent {
  readonly session: string;
  readonly costNanoUsd: number;
}

/** The newest `most` sessions that spent anything in requests that began before `untilMs`, oldest first. */
export async function sessionsSpent(
  db: LedgerReader,
  untilMs: number,
  most: number,
): Promise<SessionSpent[]> {
  const rows = await inSpan(db, { sinceMs: 0, untilMs })
    .where('sessionId', 'is not', null)
    .where('costNanoUsd', '>', 0)
    .select((eb) => [
      eb.ref('sessionId').$notNull().as('session'),
      sum('costNanoUsd').as('costNanoUsd'),
    ])
    .groupBy('sessionId')
    .orderBy((eb) => eb.fn.max('startedMs'), 'desc')
    .limit(most)
    .execute();
  return rows.toReversed();
}

/** The sums for each value of a column, most requests first. */
export async function totalsBy(
  db: LedgerReader,
  key: GroupKey,
  span: TimeSpan = ALL,
): Promise<GroupTotals[]> {
  const groups = await sumsBy(db, [key], span);
  return groups
    .map(({ keys: [name = null], ...totals }) => ({ key: name, ...totals }))
    .toSorted((a, b) => b.requests - a.requests || compareKeys(a.key, b.key));
}

/** The sums for each combination of two or three columns, most saved tokens first, at most `most` of them. */
export async function totalsByAll(
  db: LedgerReader,
  keys: readonly GroupKey[],
  span: TimeSpan = ALL,
  most = 1000,
): Promise<readonly (Totals & { readonly [K in GroupKey]?: string | null })[]> {
  const groups = await sumsBy(db, keys, span);
  return groups
    .toSorted((a, b) => b.savedTokens - a.savedTokens || b.requests - a.requests)
    .slice(0, most)
    .map(({ keys: names, ...totals }) => ({
      ...Object.fromEntries(keys.map((key, at) => [key, names[at] ?? null])),
      ...totals,
    }));
}

type SumsOfGroup = Totals & { readonly keys: readonly (string | null)[] };

/**
 * The sums for each combination of columns: those of whole hours as they are kept, those of
 * what is left at both ends of the span from its rows. Sessions are counted from rows alone.
 */
async function sumsBy(
  db: LedgerReader,
  keys: readonly GroupKey[],
  span: TimeSpan,
): Promise<SumsOfGroup[]> {
  const hourKeys = keys.filter(isHourKey);
  const { hours, rest } =
    hourKeys.length === keys.length ? inHours(span) : { hours: undefined, rest: [span] };
  const parts = await Promise.all([
    ...rest.map((part) =>
      inSpan(db, part)
        .select((eb) => [...keys.map((key) => eb.ref(key).as(key)), ...totalColumns(eb)])
        .$if(keys.length > 0, (query) => query.groupBy([...keys]))
        .execute(),
    ),
    ...(hours === undefined ? [] : [sumsOfHours(db, hourKeys, hours)]),
  ]);
  const groups = new Map<string, { names: readonly (string | null)[]; sums: Totals[] }>();
  const rows: readonly (Totals & { readonly [K in GroupKey]?: string | null })[] = parts.flat();
  for (const part of rows) {
    const names = keys.map((key) => part[key] ?? null);
    const id = JSON.stringify(names);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { names, sums: [part] });
    else group.sums.push(part);
  }
  return [...groups.values()].map(({ names, sums }) => ({ keys: names, ...addTotals(sums) }));
}

function sumsOfHours(db: LedgerReader, keys: readonly HourKey[], span: TimeSpan) {
  return ofHours(db, span)
    .select((eb) => [...keys.map((key) => eb.ref(key).as(key)), ...SUMS.map(sumOfHours)])
    .$if(keys.length > 0, (query) => query.groupBy([...keys]))
    .execute();
}

function ofHours(db: LedgerReader, { sinceMs, untilMs }: TimeSpan) {
  const query = db.selectFrom('hours').where('startedMs', '>=', sinceMs);
  return untilMs === undefined ? query : query.where('startedMs', '<', untilMs);
}

/** The whole hours of a span, and what is left of it. */
function inHours({ sinceMs, untilMs }: TimeSpan): { hours?: TimeSpan; rest: TimeSpan[] } {
  const firstMs = Math.ceil(sinceMs / HOUR_MS) * HOUR_MS;
  if (untilMs === undefined)
    return {
      hours: { sinceMs: firstMs },
      rest: firstMs > sinceMs ? [{ sinceMs, untilMs: firstMs }] : [],
    };
  const endMs = Math.floor(untilMs / HOUR_MS) * HOUR_MS;
  if (endMs <= firstMs) return { rest: [{ sinceMs, untilMs }] };
  const ends = [
    { sinceMs, untilMs: firstMs },
    { sinceMs: endMs, untilMs },
  ];
  return {
    hours: { sinceMs: firstMs, untilMs: endMs },
    rest: ends.filter((end) => end.untilMs > end.sinceMs),
  };
}

const SUMS = Object.keys(emptyTotals()) as (keyof Totals)[];

function sumOfHours(name: keyof Totals) {
  return sql<number>`coalesce(sum(${sql.ref(name)}), 0)`.as(name);
}

function isHourKey(key: GroupKey): key is HourKey {
  return (HOUR_KEYS as readonly GroupKey[]).includes(key);
}

/** As SQL sorts: what is not known first. */
function compareKeys(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  return b === null || a > b ? 1 : -1;
}

/** Which requests are wanted; what is left out does not matter. */
export interface RowFilter extends TimeSpan {
  /** Part of the model's name, whatever its case. */
  readonly model?: string;
  readonly provider?: string;
  readonly client?: string;
  readonly sessionId?: string;
  readonly outcome?: LedgerRow['outcome'];
  /** Failed ones alone, as `isFailure` defines it. */
  readonly failed?: boolean;
  /** The beginning of an id, or its end. */
  readonly id?: string;
}

/** The newest requests that `filter` lets through, newest first. */
export async function newestRows(
  db: LedgerReader,
  filter: RowFilter,
  most: number,
): Promise<LedgerRow[]> {
  const query = matching(db, filter).selectAll();
  const rows = await query.orderBy('startedMs', 'desc').orderBy('id', 'desc').limit(most).execute();
  return rows.map(fromStored);
}

/** The request with exactly this id. */
export async function rowWithId(db: LedgerReader, id: string): Promise<LedgerRow | undefined> {
  const row = await db.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : fromStored(row);
}

/** The sums of each UTC day that had requests, oldest first; the span begins and ends with an hour. */
export async function totalsByDay(db: LedgerReader, span: TimeSpan = ALL): Promise<DayTotals[]> {
  const day = sql<number>`started_ms / ${sql.lit(DAY_MS)}`;
  const rows = await ofHours(db, span)
    .select([day.as('day'), ...SUMS.map(sumOfHours)])
    .groupBy(day)
    .orderBy('day')
    .execute();
  return rows.map(({ day: number, ...totals }) => ({ date: dateOf(number * DAY_MS), ...totals }));
}

/** The sums of the UTC day in which `nowMs` lies. */
export async function totalsOfToday(db: LedgerReader, nowMs: number): Promise<Totals> {
  return totalsOf(db, { sinceMs: startOfDay(nowMs) });
}

/** What was saved since `sinceMs`, and day by day in the last seven days. */
export async function savingsReport(
  db: LedgerReader,
  nowMs: number,
  sinceMs = 0,
): Promise<SavingsReport> {
  const [totals, byModel, byDate7d] = await Promise.all([
    totalsOf(db, { sinceMs }),
    totalsBy(db, 'model', { sinceMs }),
    lastDays(db, nowMs, 7),
  ]);
  byModel.sort((a, b) => b.savedTokens - a.savedTokens);
  return { totals, byModel, byDate7d };
}

/** The sums of the last `days` UTC days up to the one of `nowMs`, oldest first; a day without requests is all zeros. */
export async function lastDays(
  db: LedgerReader,
  nowMs: number,
  days: number,
): Promise<DayTotals[]> {
  const firstMs = startOfDay(nowMs) - (days - 1) * DAY_MS;
  const span = { sinceMs: firstMs, untilMs: firstMs + days * DAY_MS };
  const found = new Map((await totalsByDay(db, span)).map((day) => [day.date, day]));
  return Array.from({ length: days }, (_, n) => {
    const date = dateOf(firstMs + n * DAY_MS);
    return found.get(date) ?? { date, ...emptyTotals() };
  });
}

/** How many requests of the span failed with each status, most first; `null` is no answer at all. */
async function failuresByStatus(
  db: LedgerReader,
  span: TimeSpan,
): Promise<readonly { readonly status: number | null; readonly requests: number }[]> {
  return inSpan(db, span)
    .where(FAILED)
    .select((eb) => ['status', eb.fn.countAll<number>().as('requests')])
    .groupBy('status')
    .orderBy('requests', 'desc')
    .orderBy('status')
    .execute();
}

/** What the dashboard shows of the last day. */
export interface DayReport {
  readonly totals: Totals;
  readonly byModel: readonly GroupTotals[];
  readonly failures: readonly { readonly status: number | null; readonly requests: number }[];
}

/** The 24 hours before `nowMs`. */
export async function lastDayReport(db: LedgerReader, nowMs: number): Promise<DayReport> {
  const span = { sinceMs: nowMs - DAY_MS };
  const [totals, byModel, failures] = await Promise.all([
    totalsOf(db, span),
    totalsBy(db, 'model', span),
    failuresByStatus(db, span),
  ]);
  return { totals, byModel, failures };
}

function inSpan(db: LedgerReader, { sinceMs, untilMs }: TimeSpan) {
  const query = db.selectFrom('requests').where('startedMs', '>=', sinceMs);
  return untilMs === undefined ? query : query.where('startedMs', '<', untilMs);
}

/** The requests that `filter` lets through. */
export function matching(db: LedgerReader, filter: RowFilter) {
  let query = inSpan(db, filter);
  const { model, id } = filter;
  if (model !== undefined)
    query = query.where(
      sql<boolean>`instr(lower(coalesce(model, model_requested, '')), ${model.toLowerCase()}) > 0`,
    );
  if (id !== undefined) {
    const { length } = id;
    query = query.where(
      sql<boolean>`${id} in (substr(id, 1, ${length}), substr(id, length(id) - ${length} + 1))`,
    );
  }
  for (const key of ['provider', 'client', 'sessionId', 'outcome'] as const) {
    const wanted = filter[key];
    if (wanted !== undefined) query = query.where(key, '=', wanted);
  }
  return filter.failed === true ? query.where(FAILED) : query;
}

/** `Totals` in SQL; must mean what `addToTotals` does. */
export function totalColumns(eb: ExpressionBuilder<LedgerSchema, 'requests'>) {
  return [
    eb.fn.countAll<number>().as('requests'),
    count(FAILED).as('errors'),
    count(sql`outcome = 'cancelled'`).as('cancelled'),
    sum('cacheHit').as('cacheHits'),
    sum('stream').as('streamed'),
    sum('inputTokensRaw').as('inputTokens'),
    sum('inputTokensSent').as('sentInputTokens'),
    sum('savedTokens').as('savedTokens'),
    sum('addedTokens').as('addedTokens'),
    sum('outputTokens').as('outputTokens'),
    sum('cacheReadTokens').as('cacheReadTokens'),
    sum('cacheWriteTokens').as('cacheWriteTokens'),
    count(sql`breakpoints is not null`).as('marked'),
    sumWhere('cacheReadTokens', sql`breakpoints is not null`).as('markedReadTokens'),
    sumWhere('cacheWriteTokens', sql`breakpoints is not null`).as('markedWriteTokens'),
    sum('costNanoUsd').as('costNanoUsd'),
    sum('costSavedNanoUsd').as('costSavedNanoUsd'),
    sum('costSavedByBreakpointsNanoUsd').as('costSavedByBreakpointsNanoUsd'),
    count(sql`forgotten_tokens is not null`).as('forgetting'),
    sum('forgottenTokens').as('forgottenTokens'),
    sum('costSavedByForgettingNanoUsd').as('costSavedByForgettingNanoUsd'),
    sumWhere('costSavedNanoUsd', sql`cache_hit = 1`).as('costSavedByAnswersNanoUsd'),
    sum('costAddedNanoUsd').as('costAddedNanoUsd'),
    eb.fn.count<number>('costNanoUsd').as('priced'),
    count(
      sql`cost_nano_usd is null and (input_tokens_sent is not null or output_tokens is not null)`,
    ).as('unpriced'),
    sum('latencyMs').as('latencySumMs'),
    eb.fn.count<number>('latencyMs').as('timed'),
  ] as const;
}

function sum(column: SummedColumn) {
  return sql<number>`coalesce(sum(${sql.ref(column)}), 0)`;
}

function sumWhere(column: SummedColumn, condition: RawBuilder<unknown>) {
  return sql<number>`coalesce(sum(case when ${condition} then ${sql.ref(column)} end), 0)`;
}

function count(condition: RawBuilder<unknown>) {
  return sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`;
}

type SummedColumn =
  | 'cacheHit'
  | 'stream'
  | 'inputTokensRaw'
  | 'inputTokensSent'
  | 'savedTokens'
  | 'addedTokens'
  | 'outputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'costNanoUsd'
  | 'costSavedNanoUsd'
  | 'costSavedByBreakpointsNanoUsd'
  | 'forgottenTokens'
  | 'costSavedByForgettingNanoUsd'
  | 'costAddedNanoUsd'
  | 'latencyMs';

function startOfDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
