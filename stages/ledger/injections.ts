/** What was injected from the vault, from the rows that are still kept. */
import { sql } from 'kysely';
import type { RangeFacts } from './range/range-facts.ts';
import { sumsByUnit } from './range/unit-memory.ts';
import type { UnitValue } from './range/unit-memory.ts';
import { selectMatching, stepOf } from './sums.ts';
import type { RowFilter } from './sums.ts';
import { DAY_MS } from './range/units.ts';
import type { LedgerReader } from './tables.ts';

/** Requests with vault injections, and the most frequent blocks. */
export interface InjectionReport {
  readonly requests: number;
  readonly chunks: number;
  /** Most often added first. */
  readonly blocks: readonly { readonly id: string; readonly requests: number }[];
}

const MAX_BLOCKS = 20;
/** How many of the newest requests have their added blocks counted. */
const MAX_COUNTED = 2000;
const BYTES_OF_UNIT = 50;

type Sums = Pick<InjectionReport, 'requests' | 'chunks'>;

/** Returns the sums over the matching requests, and the blocks of the newest of them. */
export async function injectionReport(range: RangeFacts): Promise<InjectionReport> {
  const units = await range.ofRows('injections', DAY_MS, (part, lengthMs) =>
    injectionsByUnit(range.db, part, lengthMs),
  );
  const sums = { requests: 0, chunks: 0 };
  for (const [, { requests, chunks }] of units) {
    sums.requests += requests;
    sums.chunks += chunks;
  }
  if (sums.requests === 0) return { ...sums, blocks: [] };
  const rows = await injected(range.db, range.filter)
    .where('topChunks', 'is not', null)
    .select('topChunks')
    .orderBy('startedMs', 'desc')
    .orderBy('id')
    .limit(MAX_COUNTED)
    .execute();
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

async function injectionsByUnit(
  db: LedgerReader,
  filter: RowFilter,
  lengthMs: number,
): Promise<ReadonlyMap<number, UnitValue<Sums>>> {
  const step = stepOf(lengthMs);
  const rows = await injected(db, filter)
    .select((eb) => [
      step.as('step'),
      eb.fn.countAll<number>().as('requests'),
      sql<number>`coalesce(sum(chunks_injected), 0)`.as('chunks'),
    ])
    .groupBy(step)
    .execute();
  return sumsByUnit(rows, lengthMs, BYTES_OF_UNIT);
}

function injected(db: LedgerReader, filter: RowFilter) {
  return selectMatching(db, filter).where('chunksInjected', '>', 0);
}
