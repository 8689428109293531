/**
 * What a provider bills beside the token counts of one answer: inferences of its own (compaction, an
 * advisor, another model that stepped in), calls of hosted tools, tokens of sound and pictures, and the
 * terms that change every rate (fast mode, service tier, region).
 */

/** Under which terms an answer was served, as the provider says; what is standard is left out. */
export interface RateTerms {
  /** `fast`, or `standard` where the answer says so. */
  readonly speed?: string;
  /** `flex`, `priority`, `batch`, … in lower case. */
  readonly tier?: string;
  /** The answer says that its tier is the usual one: another one that was asked for was not granted. */
  readonly isUsualTier?: true;
  /** `us`. */
  readonly geo?: string;
}

/** One entry of `usage.iterations`. */
export interface Inference {
  /** The model that ran it; undefined for the one that answered. */
  readonly model: string | undefined;
  /** True if the counts of the answer as a whole hold these. */
  readonly isInTotal: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` written for one hour. */
  readonly cacheWrite1hTokens: number;
  /** The input of each of them, where several are summed up here: above a bound many models cost more. */
  readonly promptTokens?: number;
}

/** What `Usage` says beside its token counts; most answers have none of it. */
export interface Billing extends RateTerms {
  readonly inferences?: readonly Inference[];
  /** Parts of `inputTokens`, which are of text otherwise. */
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
  /** What was used and has no unit here, by its name: nobody can say what it costs. */
  readonly unknownUses?: readonly string[];
  /** True where the answer's own tokens are not billed, as those of a refusal before any output. */
  readonly isUnbilled?: true;
}
