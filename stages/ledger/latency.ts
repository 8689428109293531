/**
 * The distribution of request latencies: by unit of time, every latency is kept, sorted, in a few
 * bytes, so that percentiles of any span of units are exact.
 */
import { sql } from 'kysely';
import { isPostgres } from './dialect.ts';
import { percentilesOf } from './range/percentiles.ts';
import type { SortedList } from './range/percentiles.ts';
import type { UnitValue } from './range/unit-memory.ts';
import { selectMatching, stepOf } from './sums.ts';
import type { RowFilter } from './sums.ts';
import type { LedgerReader } from './tables.ts';

/**
 * Percentiles by nearest rank, in milliseconds rounded to hundredths as reports show them: each is
 * the latency of an actual request.
 */
export interface LatencySpread {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

const PER_MS = 100;
const PERCENTS = [50, 95, 99];

/** Returns the latencies of the matching requests by unit of `lengthMs`, in hundredths. */
export async function latenciesByUnit(
  db: LedgerReader,
  filter: RowFilter,
  lengthMs: number,
): Promise<ReadonlyMap<number, UnitValue<SortedList>>> {
  const byStep = isPostgres(db)
    ? await fromPostgres(db, filter, lengthMs)
    : await fromFile(db, filter, lengthMs);
  return new Map(
    [...byStep].map(([step, latencies]) => {
      const value = toList(latencies);
      return [step * lengthMs, { value, sizeBytes: value.byteLength }];
    }),
  );
}

/** Returns the percentiles of several units together. */
export function spreadOf(lists: readonly SortedList[]): LatencySpread {
  const [p50Ms, p95Ms, p99Ms] = percentilesOf(lists, PERCENTS).map(
    (hundredths) => hundredths && hundredths / PER_MS,
  );
  return { p50Ms: p50Ms ?? null, p95Ms: p95Ms ?? null, p99Ms: p99Ms ?? null };
}

/** Rounding keeps their order, so it makes no difference whether a percentile is rounded later. */
function toList(latenciesMs: Float64Array): SortedList {
  const hundredths = latenciesMs.map((ms) => Math.round(ms * PER_MS)).toSorted();
  const isSmall = (hundredths[0] ?? 0) >= 0 && (hundredths.at(-1) ?? 0) < 2 ** 32;
  return isSmall ? Uint32Array.from(hundredths) : hundredths;
}

/** A function of ours collects them: see `sqlite/latencies.ts`. */
async function fromFile(
  db: LedgerReader,
  filter: RowFilter,
  lengthMs: number,
): Promise<ReadonlyMap<number, Float64Array>> {
  const { found } = await timed(db, filter)
    .select(sql<Uint8Array>`latencies_by_step(${stepOf(lengthMs)}, latency_ms)`.as('found'))
    .executeTakeFirstOrThrow();
  const numbers = new Float64Array(new Uint8Array(found).buffer);
  const [steps = 0] = numbers;
  const byStep = new Map<number, Float64Array>();
  let at = 1 + 2 * steps;
  for (let index = 1; index <= 2 * steps; index += 2) {
    const [step = 0, count = 0] = numbers.subarray(index);
    byStep.set(step, numbers.subarray(at, at + count));
    at += count;
  }
  return byStep;
}

async function fromPostgres(
  db: LedgerReader,
  filter: RowFilter,
  lengthMs: number,
): Promise<ReadonlyMap<number, Float64Array>> {
  const rows = await timed(db, filter)
    .select([
      stepOf(lengthMs).as('step'),
      sql<Buffer>`string_agg(float8send(latency_ms), ''::bytea)`.as('found'),
    ])
    .groupBy(stepOf(lengthMs))
    .execute();
  return new Map(
    rows.map(({ step, found }) => [
      step,
      Float64Array.from({ length: found.length / 8 }, (_, at) => found.readDoubleBE(at * 8)),
    ]),
  );
}

function timed(db: LedgerReader, filter: RowFilter) {
  return selectMatching(db, filter).where('latencyMs', 'is not', null);
}
