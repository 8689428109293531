/**
 * Failed attempts behind answers that clients got nevertheless, from the rows that are still kept.
 */
import { sql } from 'kysely';
import { sumsByUnit } from './range/unit-memory.ts';
import type { UnitValue } from './range/unit-memory.ts';
import { selectMatching, stepOf } from './sums.ts';
import type { RowFilter } from './sums.ts';
import type { LedgerReader } from './tables.ts';

/** Sums over requests. */
export interface AttemptSums {
  /** Attempts at providers after which the request moved to another key or provider, or failed. */
  readonly failedAttempts: number;
  /** Requests that were answered after at least one such attempt. */
  readonly answeredLater: number;
  /** Thinking blocks that providers report as not shown to the model. */
  readonly thoughtsDropped: number;
  /** Requests whose thinking blocks a provider refused at first. */
  readonly thoughtsRefused: number;
}

/**
 * Sums in SQL. A request repeated without its thinking blocks made one more attempt, and counts
 * here too; the last attempt of a failed request has failed too.
 */
const SUMS = [
  sql<number>`coalesce(sum(CASE WHEN outcome = 'error' THEN attempts WHEN attempts > 0 THEN attempts - 1 ELSE 0 END), 0)`.as(
    'failedAttempts',
  ),
  sql<number>`coalesce(sum(CASE WHEN outcome = 'ok' AND attempts > 1 THEN 1 ELSE 0 END), 0)`.as(
    'answeredLater',
  ),
  sql<number>`coalesce(sum(thoughts_dropped), 0)`.as('thoughtsDropped'),
  sql<number>`coalesce(sum(thoughts_refused), 0)`.as('thoughtsRefused'),
];

/** Returns the sums over the rows that match `filter`. */
export async function attemptSums(db: LedgerReader, filter: RowFilter): Promise<AttemptSums> {
  return selectMatching(db, filter).select(SUMS).executeTakeFirstOrThrow();
}

/** The same for a unit of time, and when the first request in it began. */
export interface UnitAttempts extends AttemptSums {
  readonly firstMs: number;
}

const UNIT_BYTES = 100;

/** Returns the sums over the matching rows by unit of `lengthMs`. */
export async function attemptsByUnit(
  db: LedgerReader,
  filter: RowFilter,
  lengthMs: number,
): Promise<ReadonlyMap<number, UnitValue<UnitAttempts>>> {
  const step = stepOf(lengthMs);
  const rows = await selectMatching(db, filter)
    .select((eb) => [step.as('step'), eb.fn.min('startedMs').as('firstMs'), ...SUMS])
    .groupBy(step)
    .execute();
  return sumsByUnit(rows, lengthMs, UNIT_BYTES);
}

/** Adds up the sums of several units. */
export function addAttempts(units: readonly AttemptSums[]): AttemptSums {
  const all = { failedAttempts: 0, answeredLater: 0, thoughtsDropped: 0, thoughtsRefused: 0 };
  for (const unit of units) {
    all.failedAttempts += unit.failedAttempts;
    all.answeredLater += unit.answeredLater;
    all.thoughtsDropped += unit.thoughtsDropped;
    all.thoughtsRefused += unit.thoughtsRefused;
  }
  return all;
}
