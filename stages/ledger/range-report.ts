/**
 * What the dashboard asks of the ledger for a range of time and a filter: sums, how they spread
 * over time and names, latency, what failed and why, conversations. The sums are those of
 * `queries.ts`; portable SQL only.
 */
import { sql } from 'kysely';
import type { LedgerReader } from './database.ts';
import { addTotals } from './figures.ts';
import type { Totals } from './figures.ts';
import { HOUR_MS } from './hours.ts';
import { totalsBy } from './queries.ts';
import type { GroupTotals } from './queries.ts';
import { FAILED, firstHourMs, matching, ROW_TOTALS, stepOf, sumsBy } from './sums.ts';
import type { RowFilter } from './sums.ts';

/** Percentiles by nearest rank, in milliseconds: each is one that some request really had. */
export interface LatencySpread {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

/** The requests that began within one step of time. */
export interface BucketReport extends LatencySpread {
  /** Where the step begins, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly totals: Totals;
}

/** Failed requests with one cause in common. */
export interface FailureGroup {
  readonly status: number | null;
  readonly errorKind: string | null;
  readonly errorCode: string | null;
  readonly provider: string | null;
  readonly requests: number;
  /** When the newest of them began. */
  readonly lastMs: number;
  readonly lastId: string;
}

/** Requests into which the vault added something, and what it added most. */
export interface InjectionReport {
  readonly requests: number;
  readonly chunks: number;
  /** Most often added first. */
  readonly blocks: readonly { readonly id: string; readonly requests: number }[];
}

/** One conversation, as far as the client names its sessions. */
export interface SessionReport {
  readonly sessionId: string;
  readonly client: string | null;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly totals: Totals;
}

export interface RangeReport {
  readonly totals: Totals;
  /** Of the `samples` timed requests that are still kept. */
  readonly latency: LatencySpread & { readonly samples: number };
  /** Oldest first; steps without requests are left out. */
  readonly buckets: readonly BucketReport[];
  readonly byModel: readonly GroupTotals[];
  readonly byProvider: readonly GroupTotals[];
  readonly byClient: readonly GroupTotals[];
  readonly failures: readonly FailureGroup[];
  readonly injections: InjectionReport;
}

/** Groups of a kind that a report lists: those with most requests. */
const MOST_GROUPS = 50;
const MOST_BLOCKS = 20;
/** Requests whose added blocks are counted: the newest. */
const MOST_COUNTED = 2000;

/** Everything about the requests that `filter` lets through; `bucketMs` is the step of the series. */
export async function rangeReport(
  db: LedgerReader,
  filter: RowFilter,
  bucketMs: number,
): Promise<RangeReport> {
  const [steps, spreads, byModel, byProvider, byClient, failures, injections] = await Promise.all([
    sumsBy(db, [], filter, bucketMs),
    latencySpreads(db, filter, bucketMs),
    totalsBy(db, 'model', filter),
    totalsBy(db, 'provider', filter),
    totalsBy(db, 'client', filter),
    failureGroups(db, filter),
    injectionReport(db, filter),
  ]);
  return {
    totals: addTotals(byProvider),
    latency: spreads.all,
    buckets: steps
      .toSorted((a, b) => a.step - b.step)
      .map(({ step, totals }) => ({
        startMs: step * bucketMs,
        totals,
        ...(spreads.byBucket.get(step) ?? NO_SPREAD),
      })),
    byModel: byModel.slice(0, MOST_GROUPS),
    byProvider,
    byClient: byClient.slice(0, MOST_GROUPS),
    failures,
    injections,
  };
}

function groupedBy<T, K>(items: readonly T[], keyOf: (item: T) => K): [K, T[]][] {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups];
}

/**
 * When the first request that `filter` lets through began; where only its sums are left, the hour
 * in which it did. Undefined where there is none.
 */
export async function firstStartMs(
  db: LedgerReader,
  filter: RowFilter,
): Promise<number | undefined> {
  const [row, hourMs] = await Promise.all([
    matching(db, filter).select('startedMs').orderBy('startedMs').limit(1).executeTakeFirst(),
    firstHourMs(db, filter),
  ]);
  const rowMs = row?.startedMs;
  if (rowMs === undefined || hourMs === undefined) return rowMs ?? hourMs;
  return hourMs + HOUR_MS <= rowMs ? hourMs : rowMs;
}

/** The conversations with the newest requests, newest first, at most `most`. */
export async function sessionReports(
  db: LedgerReader,
  filter: RowFilter,
  most: number,
): Promise<SessionReport[]> {
  const rows = await matching(db, filter)
    .where('sessionId', 'is not', null)
    .select((eb) => [
      eb.ref('sessionId').$notNull().as('sessionId'),
      eb.fn.max('client').as('client'),
      eb.fn.min('startedMs').as('firstMs'),
      eb.fn.max('startedMs').as('lastMs'),
      ...ROW_TOTALS,
    ])
    .groupBy('sessionId')
    .orderBy('lastMs', 'desc')
    .limit(most)
    .execute();
  return rows.map(({ sessionId, client, firstMs, lastMs, ...totals }) => ({
    sessionId,
    client,
    firstMs,
    lastMs,
    totals,
  }));
}

const NO_SPREAD: LatencySpread = { p50Ms: null, p95Ms: null, p99Ms: null };
const PERCENTS = [50, 95, 99] as const;

/** The rank of a percentile among `counted` requests, from 1 on: in SQL and here, in whole numbers alone. */
const rankInSql = (counted: string, percent: number) =>
  sql`((${sql.ref(counted)} * ${sql.lit(percent)} + 99) / 100)`;
const rankOf = (counted: number, percent: number): number =>
  Math.floor((counted * percent + 99) / 100);

/** The percentiles of all timed requests and of those of each step; the database sends only their rows. */
async function latencySpreads(db: LedgerReader, filter: RowFilter, bucketMs: number) {
  const bucket = stepOf(bucketMs);
  const ranked = matching(db, filter)
    .where('latencyMs', 'is not', null)
    .select([
      'latencyMs',
      bucket.as('bucket'),
      sql<number>`row_number() over (partition by ${bucket} order by latency_ms)`.as('place'),
      sql<number>`count(*) over (partition by ${bucket})`.as('counted'),
      sql<number>`row_number() over (order by latency_ms)`.as('placeOfAll'),
      sql<number>`count(*) over ()`.as('countedAll'),
    ]);
  const ranks = (counted: string) =>
    sql.join(PERCENTS.map((percent) => rankInSql(counted, percent)));
  const rows = await db
    .selectFrom(ranked.as('ranked'))
    .selectAll()
    .where(sql<boolean>`place in (${ranks('counted')}) or place_of_all in (${ranks('countedAll')})`)
    .execute();
  const spreadOf = (
    of: readonly (readonly [place: number, counted: number, ms: number | null])[],
  ) => {
    const at = (percent: number): number | null =>
      of.find(([place, counted]) => place === rankOf(counted, percent))?.[2] ?? null;
    return { p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) };
  };
  return {
    all: {
      ...spreadOf(rows.map((row) => [row.placeOfAll, row.countedAll, row.latencyMs])),
      samples: rows[0]?.countedAll ?? 0,
    },
    byBucket: new Map(
      groupedBy(rows, (row) => row.bucket).map(([number, ofBucket]) => [
        number,
        spreadOf(ofBucket.map((row) => [row.place, row.counted, row.latencyMs])),
      ]),
    ),
  };
}

async function failureGroups(db: LedgerReader, filter: RowFilter): Promise<FailureGroup[]> {
  const keys = ['status', 'errorKind', 'errorCode', 'provider'] as const;
  const rows = await matching(db, filter)
    .where(FAILED)
    .select((eb) => [
      ...keys,
      eb.fn.countAll<number>().as('requests'),
      eb.fn.max('startedMs').as('lastMs'),
      // The id that belongs to the greatest start: both in one text, of which the times have equal lengths.
      sql<string>`max(started_ms || ' ' || id)`.as('last'),
    ])
    .groupBy([...keys])
    .orderBy('requests', 'desc')
    .orderBy('lastMs', 'desc')
    .limit(MOST_GROUPS)
    .execute();
  return rows.map(({ last, ...group }) => ({
    ...group,
    lastId: last.slice(last.indexOf(' ') + 1),
  }));
}

async function injectionReport(db: LedgerReader, filter: RowFilter): Promise<InjectionReport> {
  const injected = matching(db, filter).where('chunksInjected', '>', 0);
  const [sums, rows] = await Promise.all([
    injected
      .select((eb) => [
        eb.fn.countAll<number>().as('requests'),
        sql<number>`coalesce(sum(chunks_injected), 0)`.as('chunks'),
      ])
      .executeTakeFirstOrThrow(),
    injected
      .where('topChunks', 'is not', null)
      .select('topChunks')
      .orderBy('startedMs', 'desc')
      .limit(MOST_COUNTED)
      .execute(),
  ]);
  const counts = new Map<string, number>();
  for (const { topChunks } of rows)
    for (const id of JSON.parse(topChunks ?? '[]') as string[])
      counts.set(id, (counts.get(id) ?? 0) + 1);
  const blocks = [...counts]
    .map(([id, requests]) => ({ id, requests }))
    .toSorted((a, b) => b.requests - a.requests || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_BLOCKS);
  return { ...sums, blocks };
}
