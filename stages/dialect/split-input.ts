/** Subtracts cached tokens from an input count that includes them. */
import type { Usage } from '../model/usage.ts';
import { correctedIn } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** Counts of a dialect whose input includes cached tokens; `null` if not reported. */
export interface InclusiveCounts {
  /** All of the input. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
}

/**
 * Normalises such counts, taken from `figures`, and flags a correction. The three input counts
 * always add up to `input`: if a provider reports one token as both read and written, it counts as
 * read.
 */
export function splitInput(
  figures: JsonObject,
  { input, cacheRead, cacheWrite, output, reasoning }: InclusiveCounts,
): Usage {
  const read = input === null ? cacheRead : atMost(cacheRead, input);
  const write = input === null ? cacheWrite : atMost(cacheWrite, input - (read ?? 0));
  // In the same order in every dialect: objects of one shape are read fastest.
  const usage: Usage = {
    inputTokens: input === null ? null : input - (read ?? 0) - (write ?? 0),
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: write,
    cacheWrite1hTokens: null,
    reasoningTokens: reasoning,
    estimated: false,
  };
  return correctedIn(figures).corrected === true ? { ...usage, corrected: true } : usage;
}

function atMost(count: number | null, max: number): number | null {
  return count === null ? null : Math.min(count, max);
}
