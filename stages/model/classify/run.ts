/**
 * Whether a text is the output of a program run, by its signs: the minimum scores, depending on
 * what is known of its origin, and what a high score does not outweigh.
 */
import type { Evidence } from './evidence.ts';
import type { FeatureCounts } from './features.ts';
import { areAlike } from './rows.ts';
import { runScore, signsOf } from './signs.ts';

/** Minimum scores: if a program ran that may have printed it, and if the origin is unknown. */
interface Least {
  readonly ran: number;
  readonly unknown: number;
}
/** Before code and configuration are checked. */
export const CLEAR: Least = { ran: -0.5, unknown: 3 };
/** After that, if it is not prose either. */
export const LIKELY: Least = { ran: -1, unknown: 2.2 };

const KNOWN_LEAST = 0.5;
const ALL_KNOWN_LEAST = -2;
/** Lines of one form are rows of data unless their score is above this. */
const ROWS_LEAST = 1.5;
/** Sentences printed by a program are its product, unless the score is above this. */
const PROSE_LEAST = 0.5;
const UNKNOWN_PROSE_LEAST = 4;
/** So few lines are never shortened if a program ran, and their shares say little in any case. */
const FEW_LINES = 8;
const FEW_LINES_MARGIN = 1;

/** Line forms typical of tools. */
export const WORK_MARKS = [
  'testMark',
  'statusMark',
  'buildMark',
  'ciMark',
  'diagnostic',
  'lintRow',
] as const;

/**
 * Returns true if the signs say that the text reports a program's work. A program's output may also
 * be its product, of which no line may be dropped; a file is identified by its name, or must not be
 * changed.
 */
export function isRun(evidence: Evidence, min: Least): boolean {
  const { lines, isProse, features, expected, facts, file, ran } = evidence;
  if (facts || file || (expected !== undefined && expected !== 'log')) return false;
  if (features.share('hashRow') >= 0.5) return false;
  // Documents quote program output.
  const quotes = features.of('fence') + features.of('subheading') > 0;
  if (quotes && expected !== 'log') return false;
  const score = runScore(signsIn(evidence));
  const few = features.lines < FEW_LINES;
  const hasRun = ran || expected === 'log';
  if (!isKnown(features, score)) {
    if (!hasRun && features.share('codeEnd', 'codeWord') >= 0.5) return false;
    const margin = few ? FEW_LINES_MARGIN : 0;
    if (score <= (hasRun ? min.ran - margin : min.unknown + margin)) return false;
    if (score < ROWS_LEAST && areAlike(lines)) return false;
  }
  const looksLikeProse = hasRun ? !few && score < PROSE_LEAST : few || score < UNKNOWN_PROSE_LEAST;
  return !looksLikeProse || !isProse();
}

/** Returns true if most lines have a form typical of tools: little else is needed then. */
function isKnown(features: FeatureCounts, score: number): boolean {
  const known = features.share('level', 'step', 'sourceView', ...WORK_MARKS);
  return known >= 0.5 && score > (known >= 0.75 ? ALL_KNOWN_LEAST : KNOWN_LEAST);
}

/** Returns the signs in a text; totals of any kind count if a program ran. */
export function signsIn({ totals, features, expected, ran }: Evidence): readonly number[] {
  const found = totals();
  const hasRun = ran || expected === 'log';
  return signsOf(features, found === 'runner' || (hasRun && found === 'other'));
}
