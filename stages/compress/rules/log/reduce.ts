/**
 * Failure-preserving reduction of logs that exceed a token budget. The ends, the totals and lines
 * unlike all others are kept; every other line is scored, lines around a failure inherit part of
 * its score, repeated content scores lower, and the best lines are kept whole, in order, with
 * markers in the gaps.
 */
import { costsAtLeast, estimateTokens } from '../../../model/tokens.ts';
import type { Apply, Compressed } from '../rule.ts';
import { compilerErrors } from './compiler-errors.ts';
import { END_LINES, endingLines } from './ending-lines.ts';
import { failedTests } from './failed-tests.ts';
import { cutLine, partsToScore, segmentLine } from './segments.ts';
import { printsFindings, isListRequested } from './list-commands.ts';
import { outlierSteps } from './outlier-steps.ts';
import { outlierValues } from './outlier-values.ts';
import { passedLines } from './passed-tests.ts';
import { isFailure, isPointer, isSuspicious, scoreLine, stampLength, templateOf } from './score.ts';
import { namedLines, type QueryContext } from '../named-lines.ts';
import { joinKept, MARK, readOmission } from '../../text/marker.ts';
import { readRepeatCount } from '../../text/repeats.ts';

/** A log below this many tokens is left alone: markers would use up the savings. */
const MIN_TOKENS = 250;
/** Share of the budget for lines that are kept whatever their score. */
const KEPT_SHARE = 0.5;
/** Additional share of that for names of failed tests. */
const NAMES_SHARE = 0.3;
/** Share of that for the very last lines, if they are long. */
const LAST_LINES_SHARE = 0.7;
/** A line that takes more than this share of it is cut. */
const MAX_LINE_SHARE = 0.25;
/** Share of it for lines unlike all others; if there are more, none counts as rare. */
const UNUSUAL_SHARE = 0.1;
/** Share of it for lines that the question or the call mentions. */
const NAMED_SHARE = 0.2;
/** Tokens of the marker in a gap. */
const GAP_TOKENS = 12;
/** Linter findings may take this many times the budget; no one fixes thousands one by one. */
const FINDINGS_BUDGETS = 10;
const HEADER_TOKENS = 60;
const LINES_BEFORE = 3;
const NEAR_FAILURE_LINES = 12;
/** Maximum score for output of a passed test, which is not a failure however it is worded. */
const MAX_PASSED_SCORE = 2;
const LINES_AFTER = 7;

/**
 * Reduces a build, test, CI or system log to at most `logBudgetTokens`, plus all errors that a
 * compiler states.
 */
export const reduceLog: Apply = (text, context) => {
  const budget = context.logBudgetTokens;
  if (!costsAtLeast(text, Math.max(MIN_TOKENS, budget + 1))) return undefined;
  const lines = text.split('\n');
  if (isListRequested(context.call, lines, context.isFailed)) return undefined;
  if (printsFindings(context.call) && !costsAtLeast(text, budget * FINDINGS_BUDGETS))
    return undefined;
  const segmented = lines.map(segmentLine);
  const segments = segmented.map(partsToScore);
  const suspicious = segments.map((parts) => parts.filter(isSuspicious));
  const stamp = sharedStamp(lines);
  const ranking = rankedScores(lines, segments, suspicious);
  const ending = endingLines(lines);
  const endingTokens = [...ending].reduce((sum, at) => sum + costOf(lines[at]!), 0);
  const longest = budget * MAX_LINE_SHARE;
  // If all ending lines fit uncut, none of them is cut.
  const longestEnd = endingTokens <= budget * KEPT_SHARE ? endingTokens : longest;
  const last = lastLines(ending, lines, budget * LAST_LINES_SHARE);
  const rest = segmented.map((one, at) =>
    last.has(at)
      ? one.line
      : ending.has(at)
        ? cutLine(one, longestEnd)
        : cutLine(one, longest, one.line.startsWith(stamp) ? stamp.length : 0),
  );
  const scores = raisePointers(spreadScores(ranking), lines);
  const always = alwaysKept(lines, { rest, segments, ending, last, budget, asking: context });
  // Without the shared prefix, all lines may fit.
  const all = withHeader(rest.join('\n'), stamp);
  if (stamp !== '' && !costsAtLeast(all, budget + 1)) return { text: all, removed: [] };
  const candidate = reduceToBudget({ scores, lines, rest, always }, budget - HEADER_TOKENS);
  if (candidate === undefined) return undefined;
  return { text: withHeader(candidate.text, stamp), removed: candidate.removed };
};

/**
 * Chooses lines until the result is close to the budget; the cost of markers is only known once it
 * is built. Undefined if no line would be kept, or none left out.
 */
function reduceToBudget(
  { scores, lines, rest, always }: Scored,
  budget: number,
): Compressed | undefined {
  const ranked = rank(scores, lines, rest);
  const join = (aim: number): Compressed => joinKept(rest, choose(ranked, lines, always, aim));
  let best = join(budget);
  let aim = budget;
  for (let round = 0; round < 3; round++) {
    const used = estimateTokens(best.text);
    if (used > budget * 0.96) break;
    aim = Math.round(aim * (budget / Math.max(used, budget / 2)));
    const next = join(aim);
    if (estimateTokens(next.text) > budget) break;
    best = next;
  }
  const hasText = best.text
    .split('\n')
    .some((line) => line.trim() !== '' && !line.startsWith(MARK));
  const isCut = rest.some((line) => line.includes('\n'));
  return hasText && (isCut || best.removed.length > 0) ? best : undefined;
}

/** The lines of a log with their scores; `rest` is the text of each line as it would be sent. */
interface Scored {
  readonly scores: readonly number[];
  readonly lines: readonly string[];
  readonly rest: readonly string[];
  readonly always: ReadonlySet<number>;
}

/**
 * Returns the lines that are kept whatever they score: every error that a compiler states, and up
 * to their shares of the budget the ends of the log and lines that show how it ended, later ones
 * first, the names of failed tests, lines that the question or the call mentions, and lines with an
 * unusual value or form.
 */
function alwaysKept(
  lines: readonly string[],
  { rest, segments, ending, last, budget, asking }: LogFacts,
): ReadonlySet<number> {
  const keep = new Set<number>(last);
  let tokensLeft = budget * KEPT_SHARE - [...last].reduce((sum, at) => sum + costOf(rest[at]!), 0);
  const take = (at: number): void => {
    const cost = costOf(rest[at]!);
    if (keep.has(at) || cost > tokensLeft) return;
    tokensLeft -= cost;
    keep.add(at);
  };
  for (const at of ending) take(at);
  const costBeside = (at: number, kept: ReadonlySet<number>): number =>
    kept.has(at + 1) ? costOf(rest[at]!) - GAP_TOKENS : costOf(rest[at]!);
  for (const at of failedTests(lines, budget * NAMES_SHARE, costBeside)) keep.add(at);
  for (const at of compilerErrors(segments.map((parts) => parts[0]!))) keep.add(at);
  let leftNamed = budget * NAMED_SHARE;
  for (const at of namedLines(lines, asking)) {
    leftNamed -= costOf(rest[at]!);
    if (leftNamed < 0) break;
    keep.add(at);
  }
  let leftOdd = budget * UNUSUAL_SHARE;
  for (const at of [...outlierValues(segments.map((parts) => parts[0]!)), ...outlierSteps(lines)]) {
    leftOdd -= costOf(rest[at]!);
    if (leftOdd < 0) break;
    keep.add(at);
  }
  const unusual = unusualLines(lines, segments);
  const cost = unusual.reduce((sum, at) => sum + costOf(rest[at]!), 0);
  if (cost <= budget * UNUSUAL_SHARE) for (const at of unusual) take(at);
  return keep;
}

/** Returns the last lines of a log that fit into the tokens, to be kept uncut. */
function lastLines(
  ending: ReadonlySet<number>,
  lines: readonly string[],
  tokens: number,
): ReadonlySet<number> {
  const last = new Set<number>();
  let tokensLeft = tokens;
  for (const at of [...ending].slice(0, END_LINES)) {
    tokensLeft -= costOf(lines[at]!);
    if (tokensLeft < 0) break;
    last.add(at);
  }
  return last;
}

/** Returns the cost of a line kept on its own, with the marker of one gap. */
function costOf(line: string): number {
  return estimateTokens(line) + 1 + GAP_TOKENS;
}

interface LogFacts {
  readonly rest: readonly string[];
  readonly segments: readonly (readonly string[])[];
  /** Result of `endingLines`, in its order. */
  readonly ending: ReadonlySet<number>;
  /** The last of them, which are kept uncut. */
  readonly last: ReadonlySet<number>;
  readonly budget: number;
  readonly asking: QueryContext;
}

/** Finds lines of a unique form, such as an agent's own print among a tool's rows. */
function unusualLines(
  lines: readonly string[],
  segments: readonly (readonly string[])[],
): readonly number[] {
  const forms = lines.map((line, at) =>
    line.trim() === '' || line.startsWith(MARK) ? '' : formOf(segments[at]![0]!),
  );
  const counts = new Map<string, number>();
  for (const form of forms) counts.set(form, (counts.get(form) ?? 0) + 1);
  return forms.flatMap((form, at) => (form !== '' && counts.get(form) === 1 ? [at] : []));
}

/** Returns a line's first word and the punctuation between the others. */
function formOf(line: string): string {
  const cut = line.slice(0, 120);
  const first = /^\W{0,20}[\p{L}_]{0,24}/u.exec(cut)?.[0] ?? '';
  return (
    first +
    cut
      .slice(first.length)
      .replace(/[\p{L}\p{N}_]+/gu, 'w')
      .replace(/\s+/g, ' ')
      .slice(0, 24)
  );
}

/** A candidate line: its index and its cost. */
interface Ranked {
  readonly at: number;
  readonly tokens: number;
  readonly isBlank: boolean;
}

/**
 * Ranks the lines, best first, later ones first among equals. Noise comes last and is kept only if
 * there is room.
 */
function rank(
  scores: readonly number[],
  lines: readonly string[],
  rest: readonly string[],
): readonly Ranked[] {
  return rest
    .map((line, at) => ({ at, tokens: estimateTokens(line), isBlank: line.trim() === '' }))
    .filter(({ at }) => !lines[at]!.startsWith(MARK))
    .toSorted((a, b) => scores[b.at]! - scores[a.at]! || b.at - a.at);
}

/**
 * Chooses the lines to keep: those of `always`, then by falling score until the budget is spent; a
 * missing entry means no. A repeat count is kept or dropped with its line. Notes of earlier steps
 * are kept, and their gaps are announced again.
 */
function choose(
  ranked: readonly Ranked[],
  lines: readonly string[],
  always: ReadonlySet<number>,
  budget: number,
): boolean[] {
  const keep: boolean[] = [];
  lines.forEach((line, at) => {
    if (line.startsWith(MARK) && isNote(line)) keep[at] = true;
  });
  let spent = 0;
  for (const { at, tokens } of ranked) {
    if (!always.has(at)) continue;
    keep[at] = true;
    if (readRepeatCount(lines[at + 1] ?? '') !== undefined) keep[at + 1] = true;
    spent += tokens + 1;
  }
  spent += GAP_TOKENS * gapsBetween(always);
  for (const { at, tokens, isBlank } of ranked) {
    if (spent >= budget) break;
    if (always.has(at)) continue;
    const isFolded = readRepeatCount(lines[at + 1] ?? '') !== undefined;
    const joins = (keep[at - 1] === true ? 1 : 0) + (keep[at + 1] === true ? 1 : 0);
    // A blank line among dropped ones would only split a gap.
    if (isBlank && joins === 0) continue;
    if (isPointer(lines[at]!) && keep[at - 1] !== true) continue;
    const cost = tokens + 1 + GAP_TOKENS * (isFolded ? 1 : 1 - joins);
    if (spent + cost > budget) continue;
    keep[at] = true;
    if (isFolded) keep[at + 1] = true;
    spent += cost;
  }
  return keep;
}

function gapsBetween(kept: ReadonlySet<number>): number {
  return [...kept].filter((at) => at > 0 && !kept.has(at - 1)).length;
}

function isNote(mark: string): boolean {
  return readOmission(mark) === undefined && readRepeatCount(mark) === undefined;
}

/** Adjusts scores for repetition and position. */
function rankedScores(
  lines: readonly string[],
  segments: readonly (readonly string[])[],
  suspicious: readonly (readonly string[])[],
): readonly number[] {
  const seen = new Map<string, number>();
  const passed = passedLines(segments.map((parts) => parts[0]!));
  const plain = segments.map((parts, at) => {
    const own = Math.max(...parts.map((part) => scoreLine(part, suspicious[at]!.includes(part))));
    return passed.has(at) ? Math.min(own, MAX_PASSED_SCORE) : own;
  });
  const lastFailure = plain.findLastIndex(isFailure);
  const total = lines.reduce((sum, line) => sum + line.length, 0);
  return lines.map((line, at) => {
    const own = plain[at]!;
    if (own <= -2) return own;
    const template = templateOf(segments[at]![0]!);
    const times = seen.get(template) ?? 0;
    seen.set(template, times + 1);
    // A line that makes up most of the text must not vanish, however little it says.
    const isLong = line.length > 1200 && line.length < total / 2;
    const length = isLong && !isFailure(own) ? -3 : 0;
    const end = at <= lastFailure ? bonusBeforeFailure(lastFailure - at) : 0;
    const tail = at >= lines.length - 6 ? 1 : 0;
    const again = times < 2 ? 0 : -3 - Math.min(4, times / 4);
    return own + end + tail + length + again;
  });
}

/**
 * Returns the bonus for a line at this distance before the last failure, mostly output of the
 * failed command.
 */
function bonusBeforeFailure(distance: number): number {
  if (distance < NEAR_FAILURE_LINES) return 3.5;
  return distance < 25 ? 1.5 : 0;
}

/** Spreads a part of each score to the neighbours: context belongs to a failure. */
function spreadScores(scores: readonly number[]): readonly number[] {
  const out = [...scores];
  scores.forEach((score, at) => {
    if (!isFailure(score)) return;
    for (let step = 1; step <= LINES_AFTER; step++) raise(out, at + step, score * 0.7 - step * 0.7);
    for (let step = 1; step <= LINES_BEFORE; step++)
      raise(out, at - step, score * 0.7 - step * 1.1);
  });
  return out;
}

/** Ranks pointer lines right after the line they point at, without which they are meaningless. */
function raisePointers(scores: readonly number[], lines: readonly string[]): readonly number[] {
  return scores.map((score, at) =>
    at > 0 && isPointer(lines[at]!) ? Math.min(score, scores[at - 1]! - 0.01) : score,
  );
}

function raise(scores: number[], at: number, score: number): void {
  const now = scores[at];
  if (now !== undefined && now < score) scores[at] = now <= -2 ? Math.min(score, 3) : score;
}

/** Returns the shared start of all time stamps; empty if too few characters are shared. */
function sharedStamp(lines: readonly string[]): string {
  let prefix: string | undefined;
  let stamped = 0;
  let marks = 0;
  for (const line of lines) {
    const length = stampLength(line);
    if (length === 0) {
      if (line.startsWith(MARK)) marks++;
      continue;
    }
    stamped++;
    prefix ??= line.slice(0, length);
    while (!line.startsWith(prefix)) prefix = prefix.slice(0, -1);
    // Cutting a whole stamp leaves nothing that looks like one, so the prefix could not be put
    // back.
    if (prefix.length >= length) prefix = prefix.slice(0, prefix.lastIndexOf(':') + 1);
  }
  return prefix !== undefined && prefix.length >= 8 && stamped >= (lines.length - marks) * 0.9 - 1
    ? prefix
    : '';
}

function withHeader(text: string, stamp: string): string {
  if (stamp === '') return text;
  return `${MARK}lines that begin like a time stamp had "${stamp}" before them]\n${text}`;
}
