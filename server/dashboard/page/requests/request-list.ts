/** Requests from the ledger and from the live feed as one list. */
import type { RequestJson } from '../../contract.ts';

/** Rows that a dashboard keeps where nothing else is said. */
export const MOST = 10_000;

/** A list in the order of `compare`, which has the newest first where nothing else is said. */
export function merged(
  newer: readonly RequestJson[],
  older: readonly RequestJson[],
  compare: (one: RequestJson, other: RequestJson) => number = newestFirst,
  most = MOST,
): readonly RequestJson[] {
  const byId = new Map<string, RequestJson>();
  for (const row of newer) byId.set(row.request_id, row);
  for (const row of older) if (!byId.has(row.request_id)) byId.set(row.request_id, row);
  return [...byId.values()].toSorted(compare).slice(0, most);
}

function newestFirst(one: RequestJson, other: RequestJson): number {
  if (one.timestamp === other.timestamp) return 0;
  return one.timestamp < other.timestamp ? 1 : -1;
}
