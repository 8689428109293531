/**
 * What the dashboard asks of the ledger for a range of time and a filter: sums, how they spread
 * over time and names, latency, what failed and why, conversations. The sums are those of
 * `queries.ts`; portable SQL only.
 */
import { sql } from 'kysely';
import type { LedgerReader } from './database.ts';
import type { Totals } from './figures.ts';
import { FAILED, matching, totalColumns } from './queries.ts';
import type { GroupTotals, RowFilter } from './queries.ts';

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
  readonly latency: LatencySpread;
  /** Oldest first; steps without requests are left out. */
  readonly buckets: readonly BucketReport[];
  readonly byModel: readonly GroupTotals[];
  readonly byProvider: readonly GroupTotals[];
  readonly byClient: readonly GroupTotals[];
  readonly failures: readonly FailureGroup[];
  readonly injections: InjectionReport;
  /** The part of `totals` that the response cache answered, and the part that went to a provider. */
  readonly fromCache: Totals;
  readonly fromProviders: Totals;
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
  const totalsWhere = (cacheHit: 0 | 1): Promise<Totals> =>
    matching(db, filter)
      .where('cacheHit', '=', cacheHit)
      .select(totalColumns)
      .executeTakeFirstOrThrow();
  const [
    totals,
    latency,
    buckets,
    byModel,
    byProvider,
    byClient,
    failures,
    injections,
    fromCache,
    fromProviders,
  ] = await Promise.all([
    matching(db, filter).select(totalColumns).executeTakeFirstOrThrow(),
    latencySpread(db, filter),
    bucketReports(db, filter, bucketMs),
    groupTotals(db, filter, 'model'),
    groupTotals(db, filter, 'provider'),
    groupTotals(db, filter, 'client'),
    failureGroups(db, filter),
    injectionReport(db, filter),
    totalsWhere(1),
    totalsWhere(0),
  ]);
  return {
    totals,
    latency,
    buckets,
    byModel,
    byProvider,
    byClient,
    failures,
    injections,
    fromCache,
    fromProviders,
  };
}

/** When the first request that `filter` lets through began; undefined where there is none. */
export async function firstStartMs(
  db: LedgerReader,
  filter: RowFilter,
): Promise<number | undefined> {
  const row = await matching(db, filter)
    .select('startedMs')
    .orderBy('startedMs')
    .limit(1)
    .executeTakeFirst();
  return row?.startedMs;
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
      ...totalColumns(eb),
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

function groupTotals(
  db: LedgerReader,
  filter: RowFilter,
  key: 'model' | 'provider' | 'client',
): Promise<GroupTotals[]> {
  return matching(db, filter)
    .select((eb) => [eb.ref(key).as('key'), ...totalColumns(eb)])
    .groupBy(key)
    .orderBy('requests', 'desc')
    .orderBy('key')
    .limit(MOST_GROUPS)
    .execute();
}

const PERCENTS = [50, 95, 99] as const;

/** The rank of a percentile among `counted` requests, from 1 on, in whole numbers alone. */
const rankOf = (percent: number) => sql`((counted * ${sql.lit(percent)} + 99) / 100)`;

/** One row for each percentile of each step; two percentiles of few requests may be the same row. */
async function latencyRows(db: LedgerReader, filter: RowFilter, bucketMs: number) {
  const bucket = sql<number>`started_ms / ${sql.lit(bucketMs)}`;
  const ranked = matching(db, filter)
    .where('latencyMs', 'is not', null)
    .select([
      'latencyMs',
      bucket.as('bucket'),
      sql<number>`row_number() over (partition by ${bucket} order by latency_ms)`.as('place'),
      sql<number>`count(*) over (partition by ${bucket})`.as('counted'),
    ]);
  return db
    .selectFrom(ranked.as('ranked'))
    .select(['bucket', 'place', 'counted', 'latencyMs'])
    .where(sql<boolean>`place in (${sql.join(PERCENTS.map((percent) => rankOf(percent)))})`)
    .execute();
}

type LatencyRow = Awaited<ReturnType<typeof latencyRows>>[number];

function toSpread(rows: readonly LatencyRow[]): LatencySpread {
  const at = (percent: number): number | null =>
    rows.find(({ place, counted }) => place === Math.floor((counted * percent + 99) / 100))
      ?.latencyMs ?? null;
  return { p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) };
}

/** Longer than any ledger: one step for all of it. */
const ONE_BUCKET_MS = 10 ** 15;

async function latencySpread(db: LedgerReader, filter: RowFilter): Promise<LatencySpread> {
  return toSpread(await latencyRows(db, filter, ONE_BUCKET_MS));
}

async function bucketReports(
  db: LedgerReader,
  filter: RowFilter,
  bucketMs: number,
): Promise<BucketReport[]> {
  const bucket = sql<number>`started_ms / ${sql.lit(bucketMs)}`;
  const [sums, latencies] = await Promise.all([
    matching(db, filter)
      .select((eb) => [bucket.as('bucket'), ...totalColumns(eb)])
      .groupBy(bucket)
      .orderBy('bucket')
      .execute(),
    latencyRows(db, filter, bucketMs),
  ]);
  const byBucket = new Map<number, LatencyRow[]>();
  for (const row of latencies) {
    const rows = byBucket.get(row.bucket);
    if (rows === undefined) byBucket.set(row.bucket, [row]);
    else rows.push(row);
  }
  return sums.map(({ bucket: number, ...totals }) => ({
    startMs: number * bucketMs,
    totals,
    ...toSpread(byBucket.get(number) ?? []),
  }));
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
