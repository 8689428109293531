/** Merges requests from the ledger and the live feed. */
import type { RequestJson } from '../../contract.ts';

/** Default limit on the rows that a dashboard keeps. */
export const MAX_ROWS = 10_000;

/**
 * Returns one list in the order of `compare`, newest first by default; of duplicates, those in
 * `newer` win.
 */
export function mergeRequests(
  newer: readonly RequestJson[],
  older: readonly RequestJson[],
  compare: (one: RequestJson, other: RequestJson) => number = newestFirst,
  max = MAX_ROWS,
): readonly RequestJson[] {
  const byId = new Map<string, RequestJson>();
  for (const row of newer) byId.set(row.request_id, row);
  for (const row of older) if (!byId.has(row.request_id)) byId.set(row.request_id, row);
  return [...byId.values()].toSorted(compare).slice(0, max);
}

function newestFirst(one: RequestJson, other: RequestJson): number {
  if (one.timestamp === other.timestamp) return 0;
  return one.timestamp < other.timestamp ? 1 : -1;
}
