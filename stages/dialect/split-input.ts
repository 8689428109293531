/** Takes cached tokens out of an input count that includes them. */
import type { Usage } from '../model/usage.ts';

/**
 * The three input counts of a dialect whose `total` includes cached tokens. They always add
 * up to `total`: a provider that reports one token as both read and written is believed on
 * the reading.
 */
export function splitInput(
  total: number | null,
  read: number | null,
  written: number | null,
): Pick<Usage, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'> {
  if (total === null)
    return { inputTokens: null, cacheReadTokens: read, cacheWriteTokens: written };
  const cacheRead = Math.min(read ?? 0, total);
  const cacheWritten = Math.min(written ?? 0, total - cacheRead);
  return {
    inputTokens: total - cacheRead - cacheWritten,
    cacheReadTokens: read === null ? null : cacheRead,
    cacheWriteTokens: written === null ? null : cacheWritten,
  };
}
