/** The time range of the page, taken from its URL. */

export interface Range {
  readonly id: string;
  readonly title: string;
  /** Milliseconds before now; null for a range that starts with the UTC day or with the ledger. */
  readonly lengthMs: number | null;
}

const HOUR_MS = 3_600_000;

export const RANGES: readonly Range[] = [
  { id: '1h', title: 'Last hour', lengthMs: HOUR_MS },
  { id: '24h', title: 'Last 24 hours', lengthMs: 24 * HOUR_MS },
  { id: 'today', title: 'Today (UTC)', lengthMs: null },
  { id: '7d', title: 'Last 7 days', lengthMs: 7 * 24 * HOUR_MS },
  { id: '30d', title: 'Last 30 days', lengthMs: 30 * 24 * HOUR_MS },
  { id: 'all', title: 'All time', lengthMs: null },
];

export const DEFAULT_RANGE = '24h';

/** Returns the range named in a URL; the default if there is none, or an unknown one. */
export function rangeOf(query: URLSearchParams): Range {
  const id = query.get('range') ?? DEFAULT_RANGE;
  return RANGES.find((range) => range.id === id) ?? RANGES[1]!;
}

/** Returns the start of a range in epoch milliseconds. */
export function sinceMsOf({ id, lengthMs }: Range, nowMs: number): number {
  if (lengthMs !== null) return nowMs - lengthMs;
  return id === 'today' ? Math.floor(nowMs / (24 * HOUR_MS)) * 24 * HOUR_MS : 0;
}
