/**
 * The dashboard's report for a time range and a filter: sums, their distribution over time and
 * names, latency, failures and causes, conversations. The sums are those of `queries.ts`.
 */
import { addAttempts, attemptsByUnit } from './attempts.ts';
import type { AttemptSums } from './attempts.ts';
import { failureGroups } from './failures.ts';
import type { FailureGroup } from './failures.ts';
import { addTotals } from './figures.ts';
import type { Totals } from './figures.ts';
import { HOUR_MS } from './hours.ts';
import { injectionReport } from './injections.ts';
import type { InjectionReport } from './injections.ts';
import { latenciesByUnit, spreadOf } from './latency.ts';
import type { LatencySpread } from './latency.ts';
import { DAY_MS, mostRequestsFirst } from './queries.ts';
import type { GroupTotals } from './queries.ts';
import type { SortedList } from './range/percentiles.ts';
import { groupBy, openRange } from './range/range-facts.ts';
import type { OfUnit } from './range/range-facts.ts';
import { RangeMemory } from './range/range-memory.ts';
import { firstHourMs, ROW_TOTALS, selectMatching } from './sums.ts';
import type { GroupSums, RowFilter } from './sums.ts';
import type { LedgerReader } from './tables.ts';

export type { LatencySpread } from './latency.ts';

/** The requests that began within one step of time. */
export interface BucketReport extends LatencySpread {
  /** The beginning of the step, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly totals: Totals;
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
/**
 * Reports on the requests that match `filter`; `bucketMs` is the step of the series. What the
 * memory has from reports before is not read again.
 */
export async function rangeReport(
  db: LedgerReader,
  filter: RowFilter,
  bucketMs: number,
  memory = new RangeMemory(),
): Promise<RangeReport> {
  const range = await openRange(db, filter, memory);
  const isOfHours = bucketMs % HOUR_MS === 0;
  const [byProvider, byModel, byClient, smallSteps, latencies, failures, injections, attempts] =
    await Promise.all([
      range.sums('provider', isOfHours ? bucketMs : DAY_MS),
      range.sums('model', DAY_MS),
      range.sums('client', DAY_MS),
      isOfHours ? undefined : range.sumsOfRows(undefined, bucketMs),
      range.ofRows('latencies', bucketMs, (part, lengthMs) => latenciesByUnit(db, part, lengthMs)),
      failureGroups(range),
      injectionReport(range),
      range.ofRows('attempts', DAY_MS, (part, lengthMs) => attemptsByUnit(db, part, lengthMs)),
    ]);
  const lists = latencies.map(([, list]) => list);
  const providers = toGroupTotals(byProvider);
  return {
    totals: addTotals(providers),
    latency: { ...spreadOf(lists), samples: lists.reduce((sum, { length }) => sum + length, 0) },
    buckets: toBuckets(smallSteps ?? byProvider, latencies, bucketMs),
    byModel: toGroupTotals(byModel).slice(0, MAX_GROUPS),
    byProvider: providers,
    byClient: toGroupTotals(byClient).slice(0, MAX_GROUPS),
    failures,
    injections,
    attempts: addAttempts(attempts.map(([, sums]) => sums)),
  };
}

function toGroupTotals(units: readonly OfUnit<readonly GroupSums[]>[]): readonly GroupTotals[] {
  const groups = groupBy(
    units.flatMap(([, sums]) => sums),
    ({ keys: [name = null] }) => name,
  );
  return [...groups]
    .map(([key, parts]) => ({ key, ...addTotals(parts.map(({ totals }) => totals)) }))
    .toSorted(mostRequestsFirst);
}

function toBuckets(
  sums: readonly OfUnit<readonly GroupSums[]>[],
  latencies: readonly OfUnit<SortedList>[],
  bucketMs: number,
): readonly BucketReport[] {
  const stepOfUnit = ([startMs]: OfUnit<unknown>) => Math.floor(startMs / bucketMs);
  const listsOf = groupBy(latencies, stepOfUnit);
  return [...groupBy(sums, stepOfUnit)]
    .toSorted(([a], [b]) => a - b)
    .map(([step, units]) => ({
      startMs: step * bucketMs,
      totals: addTotals(units.flatMap(([, groups]) => groups.map(({ totals }) => totals))),
      ...spreadOf((listsOf.get(step) ?? []).map(([, list]) => list)),
    }));
}

/**
 * Returns when the first matching request began; if only its sums are left, the hour of its
 * beginning. Undefined if there is none.
 */
export async function firstStartMs(
  db: LedgerReader,
  filter: RowFilter,
  memory = new RangeMemory(),
): Promise<number | undefined> {
  const [rowMs, hourMs] = await Promise.all([
    firstRowMs(db, filter, memory),
    firstHourMs(db, filter),
  ]);
  if (rowMs === undefined || hourMs === undefined) return rowMs ?? hourMs;
  return hourMs + HOUR_MS <= rowMs ? hourMs : rowMs;
}

async function firstRowMs(
  db: LedgerReader,
  filter: RowFilter,
  memory: RangeMemory,
): Promise<number | undefined> {
  const { sinceMs: _since, untilMs: _until, ...more } = filter;
  // An index tells the first row, but not the first with certain names.
  if (Object.keys(more).length > 0) {
    const range = await openRange(db, filter, memory);
    const [first] = await range.ofRows('attempts', DAY_MS, (part, lengthMs) =>
      attemptsByUnit(db, part, lengthMs),
    );
    return first?.[1].firstMs;
  }
  const query = selectMatching(db, filter).select('startedMs').orderBy('startedMs').limit(1);
  return (await query.executeTakeFirst())?.startedMs;
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
