/** Why the newest requests were not made smaller, counted by reason, as `svc status` shows them. */
import { counted } from './output.ts';
import type { Json } from '../remote.ts';

/** A reason, and how many of the newest requests it kept as large as they came. */
export interface Uncompressed {
  readonly because: string;
  readonly requests: number;
}

/** As many reasons as anybody reads. */
const MOST = 3;

/** The reasons in `traces`, the most frequent first. */
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

/** One line for each of the most frequent reasons. */
export function uncompressedWords(reasons: readonly Uncompressed[]): string[] {
  return reasons
    .slice(0, MOST)
    .map(({ because, requests }) => `${counted(requests, 'request')}: ${because}`);
}
