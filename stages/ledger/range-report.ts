/**
 * The dashboard's report for a time range and a filter: sums, their distribution over time and
 * names, latency, failures and causes, conversations. The sums are those of `queries.ts`.
 */
import { sql } from 'kysely';
import { attemptSums } from './attempts.ts';
import type { AttemptSums } from './attempts.ts';
import type { LedgerReader } from './tables.ts';
import { addTotals } from './figures.ts';
import type { Totals } from './figures.ts';
import { HOUR_MS } from './hours.ts';
import { totalsBy } from './queries.ts';
import type { GroupTotals } from './queries.ts';
import type { LedgerRow } from './row.ts';
import { latencySpreads } from './latency.ts';
import { FAILED, firstHourMs, selectMatching, ROW_TOTALS, sumsBy } from './sums.ts';
import { NO_SPREAD } from './latency.ts';
import type { LatencySpread } from './latency.ts';
import type { RowFilter } from './sums.ts';

export type { LatencySpread } from './latency.ts';

/** The requests that began within one step of time. */
export interface BucketReport extends LatencySpread {
  /** The beginning of the step, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly totals: Totals;
}

/** Failed requests with the same cause. */
export interface FailureGroup extends Pick<
  LedgerRow,
  'status' | 'errorKind' | 'errorCode' | 'provider'
> {
  readonly requests: number;
  /** The agent of all of them; null if they had several or none. */
  readonly client: string | null;
  /** How many different agents they had. */
  readonly clients: number;
  /** When the newest of them began. */
  readonly lastMs: number;
  readonly lastId: string;
}

/** Requests with vault injections, and the most frequent blocks. */
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
  readonly attempts: AttemptSums;
}

/** Maximum number of groups of a kind in a report: those with most requests. */
const MAX_GROUPS = 50;
const MAX_BLOCKS = 20;
/** How many of the newest requests have their added blocks counted. */
const MAX_COUNTED = 2000;

/** Reports on the requests that match `filter`; `bucketMs` is the step of the series. */
export async function rangeReport(
  db: LedgerReader,
  filter: RowFilter,
  bucketMs: number,
): Promise<RangeReport> {
  const [steps, spreads, byModel, byProvider, byClient, failures, injections, attempts] =
    await Promise.all([
      sumsBy(db, [], filter, bucketMs),
      latencySpreads(db, filter, bucketMs),
      totalsBy(db, 'model', filter),
      totalsBy(db, 'provider', filter),
      totalsBy(db, 'client', filter),
      failureGroups(db, filter),
      injectionReport(db, filter),
      attemptSums(db, filter),
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
    byModel: byModel.slice(0, MAX_GROUPS),
    byProvider,
    byClient: byClient.slice(0, MAX_GROUPS),
    failures,
    injections,
    attempts,
  };
}

/**
 * Returns when the first matching request began; if only its sums are left, the hour of its
 * beginning. Undefined if there is none.
 */
export async function firstStartMs(
  db: LedgerReader,
  filter: RowFilter,
): Promise<number | undefined> {
  const [row, hourMs] = await Promise.all([
    selectMatching(db, filter).select('startedMs').orderBy('startedMs').limit(1).executeTakeFirst(),
    firstHourMs(db, filter),
  ]);
  const rowMs = row?.startedMs;
  if (rowMs === undefined || hourMs === undefined) return rowMs ?? hourMs;
  return hourMs + HOUR_MS <= rowMs ? hourMs : rowMs;
}

/** Returns the conversations with the newest requests, newest first, at most `max`. */
export async function sessionReports(
  db: LedgerReader,
  filter: RowFilter,
  max: number,
): Promise<SessionReport[]> {
  // The index alone tells which; only their rows are summed.
  const newest = await selectMatching(db, filter)
    .where('sessionId', 'is not', null)
    .select((eb) => [
      eb.ref('sessionId').$notNull().as('sessionId'),
      eb.fn.max('startedMs').as('lastMs'),
    ])
    .groupBy('sessionId')
    .orderBy('lastMs', 'desc')
    .orderBy('sessionId')
    .limit(max)
    .execute();
  if (newest.length === 0) return [];
  const rows = await selectMatching(db, filter)
    .where(
      'sessionId',
      'in',
      newest.map(({ sessionId }) => sessionId),
    )
    .select((eb) => [
      eb.ref('sessionId').$notNull().as('sessionId'),
      eb.fn.max('client').as('client'),
      eb.fn.min('startedMs').as('firstMs'),
      eb.fn.max('startedMs').as('lastMs'),
      ...ROW_TOTALS,
    ])
    .groupBy('sessionId')
    .orderBy('lastMs', 'desc')
    .orderBy('sessionId')
    .execute();
  return rows.map(({ sessionId, client, firstMs, lastMs, ...totals }) => ({
    sessionId,
    client,
    firstMs,
    lastMs,
    totals,
  }));
}

async function failureGroups(db: LedgerReader, filter: RowFilter): Promise<FailureGroup[]> {
  const keys = ['status', 'errorKind', 'errorCode', 'provider'] as const;
  const rows = await selectMatching(db, filter)
    .where(FAILED)
    .select((eb) => [
      ...keys,
      eb.fn.countAll<number>().as('requests'),
      eb.fn.count<number>('client').distinct().as('clients'),
      eb.fn.min('client').as('client'),
      eb.fn.max('startedMs').as('lastMs'),
      // The id that belongs to the latest start: both in one text, with times of equal length.
      sql<string>`max(started_ms || ' ' || id)`.as('last'),
    ])
    .groupBy([...keys])
    .orderBy('requests', 'desc')
    .orderBy('lastMs', 'desc')
    .orderBy('last', 'desc')
    .limit(MAX_GROUPS)
    .execute();
  return rows.map(({ last, client, ...group }) => ({
    ...group,
    client: group.clients === 1 ? client : null,
    lastId: last.slice(last.indexOf(' ') + 1),
  }));
}

async function injectionReport(db: LedgerReader, filter: RowFilter): Promise<InjectionReport> {
  const injected = selectMatching(db, filter).where('chunksInjected', '>', 0);
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
      .orderBy('id')
      .limit(MAX_COUNTED)
      .execute(),
  ]);
  const counts = new Map<string, number>();
  for (const { topChunks } of rows)
    for (const id of JSON.parse(topChunks ?? '[]') as string[])
      counts.set(id, (counts.get(id) ?? 0) + 1);
  const blocks = [...counts]
    .map(([id, requests]) => ({ id, requests }))
    .toSorted((a, b) => b.requests - a.requests || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_BLOCKS);
  return { ...sums, blocks };
}
