/** Requests from the ledger and from the live feed as one list. */
import type { RequestJson } from '../contract.ts';

/** Rows that a dashboard keeps. */
export const MOST = 10_000;

/** Both lists as one, each request once, newest first. */
export function merged(
  newer: readonly RequestJson[],
  older: readonly RequestJson[],
): readonly RequestJson[] {
  const byId = new Map<string, RequestJson>();
  for (const row of newer) byId.set(row.request_id, row);
  for (const row of older) if (!byId.has(row.request_id)) byId.set(row.request_id, row);
  return [...byId.values()]
    .toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : 0))
    .slice(0, MOST);
}
