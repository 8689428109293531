/**
 * What a request consumed by its provider's report, in one meaning for every
 * dialect. Each dialect counts differently (some count cached tokens inside the
 * input, some count reasoning beside the output); its reader normalises to this.
 */
import type { Billing } from './billing.ts';

import type { NamedMiss } from './cached-turn.ts';

/** Work that a provider does on its own time: its figures come with every answer that is about it. */
export interface OwnWork {
  /** Names under which the same figures may come again: of the work, and of the files with its results. */
  readonly ids: readonly string[];
  /** False while it goes on. */
  readonly isFinal: boolean;
  /** True if the answer itself says that it was not waited for; undefined where only who began it knows. */
  readonly isDeferred?: true;
}

/** Token counts of one answer. `null` means that nobody measured it, which is not zero. */
export interface Usage {
  /** Input tokens billed at the plain input price. Tokens read from or written to the provider's cache are NOT in here. */
  readonly inputTokens: number | null;
  /** Output tokens, with reasoning tokens included. */
  readonly outputTokens: number | null;
  /** Input tokens served from the provider's prompt cache. */
  readonly cacheReadTokens: number | null;
  /** Input tokens written to the provider's prompt cache, for whatever lifetime. */
  readonly cacheWriteTokens: number | null;
  /** The part of `cacheWriteTokens` written for one hour, where the provider reports it. */
  readonly cacheWrite1hTokens: number | null;
  /** The part of `outputTokens` spent on reasoning, where the provider reports it. */
  readonly reasoningTokens: number | null;
  /** True if a number here is our estimate: the answer broke off before the provider reported it. */
  readonly estimated: boolean;
  /** True if the provider sent a count that is none (negative, with a fraction, beyond all bounds), which was corrected or left out. */
  readonly corrected?: true;
  /** What is billed beside these counts, or at other rates; absent for most answers. */
  readonly billing?: Billing;
  /** Thoughts of the request that the provider says it has not shown to the model, by reason; absent for none. */
  readonly droppedThoughts?: Readonly<Record<string, number>>;
  /** The work that the counts are of, where that goes on by itself; absent for an answer to a request that waits. */
  readonly work?: OwnWork;
  /** Why the provider itself says that its cache was missed; absent where it does not. */
  readonly cacheMiss?: NamedMiss;
}

/** A usage in which nothing was measured. */
export const emptyUsage: Usage = Object.freeze({
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheWrite1hTokens: null,
  reasoningTokens: null,
  estimated: false,
});

/** Everything that the model read: plain, cache-read and cache-written input tokens; `null` if none of them was measured. */
export function totalInputTokens(usage: Usage): number | null {
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  if (inputTokens === null && cacheReadTokens === null && cacheWriteTokens === null) return null;
  return (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
}

/**
 * `usage` of an answer that broke off after about `saidTokens` of output; `inputTokens` is
 * asked for an estimate where the provider had not reported the input yet. As it was where it reports
 * at least as much, or where nothing had been answered.
 */
export function withPartial(
  usage: Usage,
  streamedTokens: number,
  inputTokens: () => number,
): Usage {
  const outputTokens = Math.round(streamedTokens);
  if (outputTokens <= (usage.outputTokens ?? 0)) return usage;
  const hasInput = totalInputTokens(usage) !== null;
  return Object.freeze({
    ...usage,
    inputTokens: hasInput ? usage.inputTokens : Math.round(inputTokens()),
    outputTokens,
    estimated: true,
  });
}
