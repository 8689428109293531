/**
 * What program output has in common, whichever program ran: how things ended, sizes and durations,
 * places in files, tags and levels before messages, echoed commands; and the counter-evidence:
 * calls, comments, assignments, sentences, columns.
 *
 * Each sign is the square root of the share of lines that have it, 0–1, so that a few lines of a
 * kind count for more than a few in a hundred. The score is their weighted sum: above 0 a text
 * without any hint is more likely output than not. The weights are fitted by
 * `bench/quality/run-weights.ts` from labelled runs and from files, and rounded.
 */
import type { Feature, FeatureCounts } from './features.ts';

/** Weights of features, grouped by what they indicate. */
const WEIGHTS = {
  timestamp: 3.2,
  clock: 3.1,
  step: 4.5,
  statusMark: 5,
  testMark: 4.7,
  buildMark: 2.3,
  diagnostic: 4.6,
  lintRow: 2.4,
  sourceView: 3.4,
  level: 2.2,
  levelWord: 4.2,
  bracketTag: 4.4,
  action: 2.9,
  outcome: 3,
  problem: 3.1,
  quantity: 3.5,
  shownCommand: 2.5,
  place: 2.2,
  errorName: 2.8,
  findingCode: 2.4,
  arrow: 2.6,
  call: -2.2,
  codeEnd: -1.4,
  comment: -2.7,
  hashComment: -2.3,
  assignment: -2.5,
  commaEnd: -1.4,
  sentence: -1.6,
  option: -0.5,
  columns: -1,
  indented: -1.4,
  fileName: 0.9,
  pathWord: -1.1,
  hashRow: -1.6,
} as const satisfies Partial<Record<Feature, number>>;

const BIAS = -1.3;
/** A line of totals at an end of the text. */
const TOTALS = 3.2;

const FEATURES = Object.keys(WEIGHTS) as Feature[];

/** Names of the signs, in the order of `signsOf`. */
export const SIGN_NAMES: readonly string[] = [...FEATURES, 'totals'];
const ALL_WEIGHTS: readonly number[] = [...Object.values(WEIGHTS), TOTALS];

/** Returns the signs in a text, 0–1 each. */
export function signsOf(features: FeatureCounts, hasTotals: boolean): readonly number[] {
  const shares = FEATURES.map((name) => Math.sqrt(features.share(name)));
  return [...shares, hasTotals ? 1 : 0];
}

/** Returns the weighted sum of signs. */
export function scoreSigns(signs: readonly number[], weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < signs.length; at++) sum += signs[at]! * weights[at]!;
  return sum;
}

/** Returns how much more likely a text is the output of a run than anything else, as log odds. */
export function runScore(signs: readonly number[]): number {
  return BIAS + scoreSigns(signs, ALL_WEIGHTS);
}
