/**
 * The distribution of request latencies: by a function of ours for a file; Postgres has its own.
 */
import { sql } from 'kysely';
import { isPostgres } from './dialect.ts';
import { selectMatching, stepOf } from './sums.ts';
import type { RowFilter } from './sums.ts';
import type { LedgerReader } from './tables.ts';

/** Percentiles by nearest rank, in milliseconds: each is the latency of an actual request. */
export interface LatencySpread {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

/** The result of the function for a file, as JSON. */
export interface Spreads {
  readonly all: LatencySpread & { readonly samples: number };
  /** By the number of the step. */
  readonly bySteps: readonly (readonly [step: number, spread: LatencySpread])[];
}

export const NO_SPREAD: LatencySpread = { p50Ms: null, p95Ms: null, p99Ms: null };

interface FoundSpreads {
  /** Of all timed requests. */
  readonly all: Spreads['all'];
  /** By the number of the step in which they began. */
  readonly byBucket: ReadonlyMap<number, LatencySpread>;
}

/** Returns the percentiles of all timed requests and of those of each step. */
export async function latencySpreads(
  db: LedgerReader,
  filter: RowFilter,
  bucketMs: number,
): Promise<FoundSpreads> {
  const timed = selectMatching(db, filter).where('latencyMs', 'is not', null);
  if (isPostgres(db)) return fromPostgres(timed, bucketMs);
  const { found } = await timed
    .select(sql<string>`latency_spreads(${stepOf(bucketMs)}, latency_ms)`.as('found'))
    .executeTakeFirstOrThrow();
  const { all, bySteps } = JSON.parse(found) as Spreads;
  return { all, byBucket: new Map(bySteps) };
}

/** Nearest rank is called discrete in Postgres. */
const PERCENTILES = sql<
  readonly number[] | null
>`percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY latency_ms)`;

async function fromPostgres(
  timed: ReturnType<typeof selectMatching>,
  bucketMs: number,
): Promise<FoundSpreads> {
  const step = stepOf(bucketMs);
  const rows = await timed
    .select((eb) => [
      step.as('step'),
      sql<number>`grouping(${step})`.as('isAll'),
      eb.fn.countAll<number>().as('samples'),
      PERCENTILES.as('percentiles'),
    ])
    .groupBy(sql`GROUPING SETS ((), (${step}))`)
    .execute();
  const all = rows.find(({ isAll }) => isAll === 1);
  return {
    all: { ...toSpread(all?.percentiles), samples: all?.samples ?? 0 },
    byBucket: new Map(
      rows
        .filter(({ isAll }) => isAll === 0)
        .map((row) => [row.step, toSpread(row.percentiles)] as const),
    ),
  };
}

function toSpread(percentiles: readonly number[] | null | undefined): LatencySpread {
  if (percentiles === null || percentiles === undefined) return NO_SPREAD;
  const [p50Ms = null, p95Ms = null, p99Ms = null] = percentiles;
  return { p50Ms, p95Ms, p99Ms };
}
