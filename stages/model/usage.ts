/**
 * What a request consumed by its provider's report, with one meaning for every dialect. Each
 * dialect counts differently (some count cached tokens inside the input, some count reasoning
 * beside the output); its reader normalises to this.
 */
import type { Billing } from './billing.ts';

import type { NamedMiss } from './cached-turn.ts';

/** A deferred job at a provider: its figures come with every answer about it. */
export interface OwnWork {
  /**
   * Ids under which the same figures may be reported again: of the job, and of the files with its
   * results.
   */
  readonly ids: readonly string[];
  /** False while it is running. */
  readonly isFinal: boolean;
  /**
   * True if the answer itself says that no request waits for it; undefined if only the request that
   * started it knows.
   */
  readonly isDeferred?: true;
}

/** Token counts of one answer. `null` means not measured, which is not zero. */
export interface Usage {
  /**
   * Input tokens billed at the plain input price. Tokens read from or written to the provider's
   * cache are NOT in here.
   */
  readonly inputTokens: number | null;
  /** Output tokens, with reasoning tokens included. */
  readonly outputTokens: number | null;
  /** Input tokens served from the provider's prompt cache. */
  readonly cacheReadTokens: number | null;
  /** Input tokens written to the provider's prompt cache, with any lifetime. */
  readonly cacheWriteTokens: number | null;
  /** The part of `cacheWriteTokens` written for one hour, where the provider reports it. */
  readonly cacheWrite1hTokens: number | null;
  /** The part of `outputTokens` spent on reasoning, where the provider reports it. */
  readonly reasoningTokens: number | null;
  /**
   * True if a number here is our estimate: the answer broke off before the provider reported it.
   */
  readonly estimated: boolean;
  /**
   * True if the provider sent an invalid count (negative, with a fraction, beyond all bounds),
   * which was corrected or left out.
   */
  readonly corrected?: true;
  /** What is billed besides these counts, or at other rates; absent for most answers. */
  readonly billing?: Billing;
  /**
   * Thinking blocks of the request that the provider reports as not shown to the model, by reason;
   * absent for none.
   */
  readonly droppedThoughts?: Readonly<Record<string, number>>;
  /** The deferred work that the counts belong to; absent for an answer to a request that waits. */
  readonly work?: OwnWork;
  /** The provider's own reason for a cache miss; absent if it gives none. */
  readonly cacheMiss?: NamedMiss;
}

/** A usage without any measurement. */
export const emptyUsage: Usage = Object.freeze({
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheWrite1hTokens: null,
  reasoningTokens: null,
  estimated: false,
});

/**
 * Returns everything that the model read: plain, cache-read and cache-written input tokens; `null`
 * if none of them was measured.
 */
export function totalInputTokens(usage: Usage): number | null {
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  if (inputTokens === null && cacheReadTokens === null && cacheWriteTokens === null) return null;
  return (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
}

/**
 * Returns `usage` for an answer that broke off after about `streamedTokens` of output;
 * `inputTokens` is called for an estimate if the provider has not reported the input yet. Unchanged
 * if the provider reports at least as much, or if nothing was sent.
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
