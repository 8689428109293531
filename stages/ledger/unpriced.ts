/** Models whose cost is unknown. */
import { sql } from 'kysely';
import { UNPRICED_SQL } from './figures.ts';
import { inSpan } from './sums.ts';
import type { LedgerReader } from './tables.ts';

const UNPRICED = sql<boolean>`(${sql.raw(UNPRICED_SQL)})`;

/** Returns models of billed requests since `sinceMs` without a known cost, the most used first. */
export async function unpricedModels(
  db: LedgerReader,
  sinceMs: number,
): Promise<{ readonly model: string | null; readonly requests: number }[]> {
  const count = sql<number | string>`count(*)`;
  const rows = await inSpan(db, { sinceMs })
    .select(['model', count.as('requests')])
    .where(UNPRICED)
    .groupBy('model')
    .orderBy(count, 'desc')
    .limit(100)
    .execute();
  return rows.map(({ model, requests }) => ({ model, requests: Number(requests) }));
}
