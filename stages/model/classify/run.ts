/**
 * Whether a text is output of a program that ran, by its signs: the least scores, by what is
 * known of where it came from, and what a high score does not outweigh.
 */
import type { Evidence } from './evidence.ts';
import type { FeatureCounts } from './features.ts';
import { areAlike } from './rows.ts';
import { runScore, signsOf } from './signs.ts';

/** The least scores: where something ran that may have printed it, and where nobody knows. */
interface Least {
  readonly ran: number;
  readonly unknown: number;
}
/** Before anybody asked whether it is code or configuration. */
export const CLEAR: Least = { ran: -0.5, unknown: 3 };
/** After that, where it is no prose either. */
export const LIKELY: Least = { ran: -1, unknown: 2.2 };

const KNOWN_LEAST = 0.5;
const ALL_KNOWN_LEAST = -2;
/** Lines of one form are rows of data unless their score is above this. */
const ROWS_LEAST = 1.5;
/** What a program printed in sentences was what it is for, unless the score is above this. */
const PROSE_LEAST = 0.5;
const UNKNOWN_PROSE_LEAST = 4;
/** So few lines are never made shorter where something ran, and shares of them say little anywhere. */
const FEW_LINES = 8;
const FEW_EASE = 1;

/** Forms of lines that tools are known by. */
export const WORK_MARKS = [
  'testMark',
  'statusMark',
  'buildMark',
  'ciMark',
  'diagnostic',
  'lintRow',
] as const;

/**
 * Signs that the text is about the work of a program. What a program printed may also be what it
 * was asked for, and no line of that may go; a file says by its name what it is, or must not
 * be changed.
 */
export function isRun(evidence: Evidence, least: Least): boolean {
  const { lines, isProse, features, expected, facts, file, ran } = evidence;
  if (facts || file || (expected !== undefined && expected !== 'log')) return false;
  if (features.share('hashRow') >= 0.5) return false;
  // Documents quote what programs print.
  const quotes = features.of('fence') + features.of('subheading') > 0;
  if (quotes && expected !== 'log') return false;
  const score = runScore(signsIn(evidence));
  const few = features.lines < FEW_LINES;
  const hasRun = ran || expected === 'log';
  if (!isKnown(features, score)) {
    if (!hasRun && features.share('codeEnd', 'codeWord') >= 0.5) return false;
    const ease = few ? FEW_EASE : 0;
    if (score <= (hasRun ? least.ran - ease : least.unknown + ease)) return false;
    if (score < ROWS_LEAST && areAlike(lines)) return false;
  }
  const isSaid = hasRun ? !few && score < PROSE_LEAST : few || score < UNKNOWN_PROSE_LEAST;
  return !isSaid || !isProse();
}

/** True if most lines have a form that tools are known by: little else is needed then. */
function isKnown(features: FeatureCounts, score: number): boolean {
  const known = features.share('level', 'step', 'sourceView', ...WORK_MARKS);
  return known >= 0.5 && score > (known >= 0.75 ? ALL_KNOWN_LEAST : KNOWN_LEAST);
}

/** The signs in a text; totals of any kind count where something ran. */
export function signsIn({ totals, features, expected, ran }: Evidence): readonly number[] {
  const found = totals();
  const hasRun = ran || expected === 'log';
  return signsOf(features, found === 'runner' || (hasRun && found === 'other'));
}
