/**
 * What the proxy learns from its traffic: how much of each kind of output compression
 * saves, and how many of a model's own tokens one estimated token is. Reports use this at
 * once. Bytes depend on it only through `apply`, which freezes rules for conversations
 * that begin afterwards: a kind of tool output of which at least `MIN_SAMPLES` were seen
 * and less than `MIN_SAVED` was saved is then no longer put through the algorithms of its
 * class. Repeats of earlier lines are still named, and nothing else changes.
 */
import type { Clock } from '../../engine/index.ts';
import { moveUnreadable } from '../aside.ts';
import { reasonOf } from '../disk-reason.ts';
import { nothingLearned, readLearned, writeLearned } from './learned-file.ts';
import type { LearnedState } from './learned-file.ts';
import { MeanTable } from './means.ts';
import type { Mean } from './means.ts';
import { fromKey, toKey, toRules } from './rules.ts';
import type { PatternName, Rules } from './rules.ts';

/** One block that compression worked on, in estimated tokens. */
export interface BlockSample extends PatternName {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** A kind of output and what compression achieved on it. */
export interface LearnedPattern extends PatternName {
  readonly samples: number;
  /** Share of the tokens that was saved lately, 0 to 1. */
  readonly saved: number;
  /** True if `apply` would now leave it alone. */
  readonly wouldSkip: boolean;
}

export interface LearnedModel {
  readonly model: string;
  readonly samples: number;
  /** The provider's tokens for one of the fixed estimator's. */
  readonly tokenRatio: number;
}

/** What `svc learn status` shows. */
export interface LearnedStatus {
  /** Most samples first. */
  readonly patterns: readonly LearnedPattern[];
  readonly models: readonly LearnedModel[];
  /** The rules for conversations that begin now; null while none are applied. */
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
  /** Hears of every failure to read or write; what is learned then lasts as long as the process. */
  readonly onTrouble: (error: Error) => void;
}

/** Blocks of a kind that must have been seen before a rule may come of it. */
export const MIN_SAMPLES = 20;
/** Share of tokens below which compressing a kind of output is not worth it. */
const MIN_SAVED = 0.02;

const MAX_PATTERNS = 500;
const MAX_MODELS = 100;
/** Sets of rules kept for the conversations that were pinned to them. */
const MAX_RULES = 50;
/** What is learned may be lost for this long; nothing but reports would be the worse for it. */
const WRITE_AFTER_MS = 5000;
/** Requests after which a model is known well, and how many later ones pass for one that is estimated. */
const WELL_KNOWN = 20;
const ESTIMATED_OF_KNOWN = 8;
/** A model's tokens are never this far from the estimator's: such a figure is somebody's mistake. */
const RATIO_BOUNDS = { least: 0.3, most: 3 };

/** Reads what earlier processes learned and goes on from there. Never rejects. */
export async function openLearned(options: LearnedOptions): Promise<Learned> {
  try {
    return new Learned(options, await readLearned(options.file));
  } catch (thrown) {
    // What is written next must not be written over what could not be read.
    const where = movedAside(options);
    const lies = where === undefined ? '' : `; it was moved to ${where}`;
    const what = `${options.file} cannot be read: ${reasonOf(thrown)}${lies}`;
    options.onTrouble(new Error(what, { cause: thrown }));
    return new Learned(options, nothingLearned);
  }
}

function movedAside({ file, clock }: LearnedOptions): string | undefined {
  try {
    return moveUnreadable(file, clock.wallMs());
  } catch {
    return undefined;
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
   * Sets `counted` input tokens of the provider's beside our estimate of the same request.
   * `estimate` walks through it, so once a model is known well, only some requests are estimated.
   */
  learnTokens(model: string, counted: number, estimate: () => number | undefined): void {
    this.#requests += 1;
    const isKnown = this.#models.samples(model) >= WELL_KNOWN;
    if (isKnown && this.#requests % ESTIMATED_OF_KNOWN !== 0) return;
    const estimated = estimate();
    if (estimated === undefined) return;
    const ratio = counted / estimated;
    if (!(ratio >= RATIO_BOUNDS.least && ratio <= RATIO_BOUNDS.most)) return;
    this.#models.add(model, counted, estimated);
    this.#schedule();
  }

  /** The provider's tokens for one estimated token; 1 where nothing was learned. */
  tokenRatio(model: string | null): number {
    return (model === null ? undefined : this.#models.ratio(model)) ?? 1;
  }

  /** The rules for a conversation that begins now; undefined for none. */
  get applied(): Rules | undefined {
    return this.#applied === null ? undefined : this.rules(this.#applied);
  }

  /** The rules that a conversation was pinned to; undefined if they are no longer known. */
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

  /** Forgets everything; new conversations begin without rules, running ones keep theirs. */
  reset(): LearnedStatus {
    this.#patterns.clear();
    this.#models.clear();
    this.#applied = null;
    this.#appliedMs = null;
    this.#writeSoon();
    return this.status();
  }

  /** Freezes what is known now for conversations that begin from here on. */
  apply(): LearnedStatus {
    // What is left alone already has no samples any more, so it stays unless all was reset.
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

  /** Resolves when everything is on disk, or could not be written. */
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
    const { file, onTrouble } = this.#options;
    try {
      await writeLearned(file, {
        patterns: this.#patterns.entries(),
        models: this.#models.entries(),
        rules: [...this.#rules.values()],
        applied: this.#applied,
        appliedMs: this.#appliedMs,
      });
    } catch (thrown) {
      onTrouble(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

function toPattern(name: PatternName, { samples, over, under }: Mean): LearnedPattern {
  const saved = under > 0 ? Math.max(0, 1 - over / under) : 0;
  const wouldSkip = name.toolName !== null && samples >= MIN_SAMPLES && saved < MIN_SAVED;
  return { ...name, samples, saved, wouldSkip };
}
