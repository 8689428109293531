/**
 * What the proxy learns from its traffic: how much compression saves on each kind of output, and
 * how many of a model's own tokens correspond to one estimated token. Reports use this immediately.
 * Requests depend on it only through `apply`, which freezes rules for conversations that begin
 * afterwards: a kind of tool output with at least `MIN_SAMPLES` samples and less than `MIN_SAVED`
 * saved then skips the algorithms of its class. Repeats of earlier lines still become references,
 * and nothing else changes.
 */
import type { Clock } from '../../engine/index.ts';
import { moveAsideError } from '../move-aside.ts';
import { nothingLearned, readLearned, writeLearned } from './learned-file.ts';
import type { LearnedState } from './learned-file.ts';
import { MeanTable } from './means.ts';
import type { Mean } from './means.ts';
import { fromKey, toKey, toRules } from './rules.ts';
import type { PatternName, Rules } from './rules.ts';

/** One block that compression processed, in estimated tokens. */
export interface BlockSample extends PatternName {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** A kind of output and its savings by compression. */
export interface LearnedPattern extends PatternName {
  readonly samples: number;
  /** Share of tokens saved recently, 0 to 1. */
  readonly saved: number;
  /** True if `apply` would now skip it. */
  readonly wouldSkip: boolean;
}

export interface LearnedModel {
  readonly model: string;
  readonly samples: number;
  /** Provider tokens per token of the fixed estimator. */
  readonly tokenRatio: number;
}

/** The output of `svc learn status`. */
export interface LearnedStatus {
  /** Most samples first. */
  readonly patterns: readonly LearnedPattern[];
  readonly models: readonly LearnedModel[];
  /** Rules for conversations that begin now; null while none are applied. */
  readonly applied: {
    readonly id: string;
    readonly atMs: number | null;
    readonly skip: readonly PatternName[];
  } | null;
}

export interface LearnedOptions {
  /** Absolute path of the file; its folder must exist. */
  readonly file: string;
  readonly clock: Clock;
  /**
   * Called on every failure to read or write; learned data then lasts only as long as the process.
   */
  readonly onProblem: (error: Error) => void;
}

/** Samples of a kind required before a rule can result. */
export const MIN_SAMPLES = 20;
/** Share of tokens below which compressing a kind of output is not worthwhile. */
const MIN_SAVED = 0.02;

const MAX_PATTERNS = 500;
const MAX_MODELS = 100;
/** Rule sets kept for conversations pinned to them. */
const MAX_RULES = 50;
/** Longest time learned data stays unwritten; only reports suffer from a loss. */
const WRITE_AFTER_MS = 5000;
/**
 * Requests after which a model is well known, and how many later ones there are per estimated one.
 */
const WELL_KNOWN = 20;
const ESTIMATED_OF_KNOWN = 8;
/**
 * Bounds of a plausible ratio to the estimator's tokens; anything beyond is an error in the input.
 */
const RATIO_BOUNDS = { min: 0.3, max: 3 };

/** Opens the data that earlier processes learned and continues from it. Never rejects. */
export async function openLearned(options: LearnedOptions): Promise<Learned> {
  try {
    return new Learned(options, await readLearned(options.file, options.clock.wallMs()));
  } catch (thrown) {
    options.onProblem(moveAsideError(options.file, thrown, options.clock.wallMs()));
    return new Learned(options, nothingLearned);
  }
}

export class Learned {
  readonly #options: LearnedOptions;
  readonly #patterns: MeanTable;
  readonly #models: MeanTable;
  readonly #rules = new Map<string, Rules>();
  #applied: string | null;
  #appliedMs: number | null;
  #requests = 0;
  #stopTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: LearnedOptions, state: LearnedState) {
    this.#options = options;
    this.#patterns = new MeanTable(MAX_PATTERNS, state.patterns);
    this.#models = new MeanTable(MAX_MODELS, state.models);
    for (const rules of state.rules) this.#rules.set(rules.id, rules);
    this.#applied = state.applied;
    this.#appliedMs = state.appliedMs;
  }

  learnBlocks(samples: readonly BlockSample[]): void {
    for (const sample of samples)
      this.#patterns.add(toKey(sample), sample.tokensAfter, sample.tokensBefore);
    if (samples.length > 0) this.#schedule();
  }

  /**
   * Relates the provider's `counted` input tokens to the estimate of the same request. `estimate`
   * is expensive, so once a model is well known, only some requests are estimated.
   */
  learnTokens(model: string, counted: number, estimate: () => number | undefined): void {
    this.#requests += 1;
    const isKnown = this.#models.samples(model) >= WELL_KNOWN;
    if (isKnown && this.#requests % ESTIMATED_OF_KNOWN !== 0) return;
    const estimated = estimate();
    if (estimated === undefined) return;
    const ratio = counted / estimated;
    if (!(ratio >= RATIO_BOUNDS.min && ratio <= RATIO_BOUNDS.max)) return;
    this.#models.add(model, counted, estimated);
    this.#schedule();
  }

  /** Returns provider tokens per estimated token; 1 where nothing was learned. */
  tokenRatio(model: string | null): number {
    return (model === null ? undefined : this.#models.ratio(model)) ?? 1;
  }

  /** Rules for a conversation that begins now; undefined for none. */
  get applied(): Rules | undefined {
    return this.#applied === null ? undefined : this.rules(this.#applied);
  }

  /** Returns the rules that a conversation was pinned to; undefined if they were dropped. */
  rules(id: string): Rules | undefined {
    return this.#rules.get(id);
  }

  status(): LearnedStatus {
    const { applied } = this;
    const patterns = this.#patterns.entries().flatMap(([key, mean]) => {
      const name = fromKey(key);
      return name === undefined ? [] : [toPattern(name, mean)];
    });
    const models = this.#models
      .entries()
      .map(([model, { samples }]) => ({ model, samples, tokenRatio: this.tokenRatio(model) }));
    const bySamples = (a: { samples: number }, b: { samples: number }) => b.samples - a.samples;
    return {
      patterns: patterns.toSorted(bySamples),
      models: models.toSorted(bySamples),
      applied:
        applied === undefined
          ? null
          : {
              id: applied.id,
              atMs: this.#appliedMs,
              skip: applied.skip.flatMap((key) => fromKey(key) ?? []),
            },
    };
  }

  /** Discards everything; new conversations begin without rules, running ones keep theirs. */
  reset(): LearnedStatus {
    this.#patterns.clear();
    this.#models.clear();
    this.#applied = null;
    this.#appliedMs = null;
    this.#writeSoon();
    return this.status();
  }

  /** Freezes the current findings for conversations that begin from now on. */
  apply(): LearnedStatus {
    // Skipped patterns get no new samples, so they stay skipped unless reset.
    const skip = [...(this.applied?.skip ?? [])];
    for (const pattern of this.status().patterns) if (pattern.wouldSkip) skip.push(toKey(pattern));
    const rules = toRules(skip);
    this.#rules.delete(rules.id);
    this.#rules.set(rules.id, rules);
    if (this.#rules.size > MAX_RULES) this.#rules.delete(this.#rules.keys().next().value!);
    this.#applied = rules.id;
    this.#appliedMs = this.#options.clock.wallMs();
    this.#writeSoon();
    return this.status();
  }

  /** Resolves when everything is written, or writing failed. */
  async flush(): Promise<void> {
    if (this.#stopTimer !== undefined) this.#writeSoon();
    await this.#writing;
  }

  #schedule(): void {
    this.#stopTimer ??= this.#options.clock.after(WRITE_AFTER_MS, () => this.#writeSoon());
  }

  #writeSoon(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    const { file, onProblem } = this.#options;
    try {
      await writeLearned(file, {
        patterns: this.#patterns.entries(),
        models: this.#models.entries(),
        rules: [...this.#rules.values()],
        applied: this.#applied,
        appliedMs: this.#appliedMs,
      });
    } catch (thrown) {
      onProblem(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

function toPattern(name: PatternName, { samples, over, under }: Mean): LearnedPattern {
  const saved = under > 0 ? Math.max(0, 1 - over / under) : 0;
  const wouldSkip = name.toolName !== null && samples >= MIN_SAMPLES && saved < MIN_SAVED;
  return { ...name, samples, saved, wouldSkip };
}
