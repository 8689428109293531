/**
 * What a provider bills besides the token counts of one answer: inferences of its own (compaction,
 * an advisor, another model that stepped in), calls of hosted tools, audio and image tokens, and
 * the terms that change every rate (fast mode, service tier, region).
 */

/** The terms of an answer, as the provider reports them; standard terms are left out. */
export interface RateTerms {
  /** `fast`, or `standard` if the answer says so. */
  readonly speed?: string;
  /** `flex`, `priority`, `batch`, … in lower case. */
  readonly tier?: string;
  /**
   * True if the answer reports the usual tier: a different tier that was requested was not granted.
   */
  readonly isUsualTier?: true;
  /** `us`. */
  readonly geo?: string;
}

/** One entry of `usage.iterations`. */
export interface Inference {
  /** The model that ran it; undefined for the one that answered. */
  readonly model: string | undefined;
  /** True if the counts of the whole answer include these. */
  readonly isInTotal: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` written for one hour. */
  readonly cacheWrite1hTokens: number;
  /**
   * Input tokens of each inference when several are summed up here: many models cost more above a
   * threshold.
   */
  readonly promptTokens?: number;
}

/** What `Usage` reports besides its token counts; most answers have none of it. */
export interface Billing extends RateTerms {
  readonly inferences?: readonly Inference[];
  /** Parts of `inputTokens`; the rest is text. */
  readonly inputAudioTokens?: number;
  readonly inputImageTokens?: number;
  readonly inputVideoTokens?: number;
  /** Parts of `cacheReadTokens`. */
  readonly cacheReadAudioTokens?: number;
  readonly cacheReadImageTokens?: number;
  /** Parts of `outputTokens`. */
  readonly outputAudioTokens?: number;
  readonly outputImageTokens?: number;
  /** The part of `cacheWriteTokens` written for twelve hours. */
  readonly cacheWrite12hTokens?: number;
  readonly webSearches?: number;
  readonly fileSearches?: number;
  /** Names of things that were used and have no unit here: their cost is unknown. */
  readonly unknownUses?: readonly string[];
  /** True if the answer's own tokens are not billed, as for a refusal before any output. */
  readonly isUnbilled?: true;
}
