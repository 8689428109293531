/** Why recent requests were not compressed, counted by reason, for `svc status`. */
import { counted } from './output.ts';
import type { Json } from '../remote.ts';

/** A reason, and how many recent requests it kept uncompressed. */
export interface Uncompressed {
  readonly because: string;
  readonly requests: number;
}

/** More would not be read. */
const MAX_REASONS = 3;

/** Returns the reasons in `traces`, most frequent first. */
export function uncompressedOf(traces: readonly Json[]): readonly Uncompressed[] {
  const requests = new Map<string, number>();
  for (const trace of traces) {
    const stages = Array.isArray(trace['stages']) ? (trace['stages'] as Json[]) : [];
    for (const { not_compressed_because: because } of stages)
      if (typeof because === 'string') requests.set(because, (requests.get(because) ?? 0) + 1);
  }
  return [...requests]
    .map(([because, count]) => ({ because, requests: count }))
    .toSorted((a, b) => b.requests - a.requests);
}

/** Returns one line per frequent reason. */
export function uncompressedLines(reasons: readonly Uncompressed[]): string[] {
  return reasons
    .slice(0, MAX_REASONS)
    .map(({ because, requests }) => `${counted(requests, 'request')}: ${because}`);
}
