/**
 * Failure-preserving reduction of logs to a token budget. Every line is scored, lines
 * around a failure inherit part of its score, lines that say the same thing again count
 * for less, and the best lines are kept whole, in order, with markers in the gaps.
 */
import { estimateTokens } from '../model/tokens.ts';
import type { Compressed, Compressor } from './compressor.ts';
import { readRepeated } from './log-clean.ts';
import { cutLine, seenParts, segmentLine } from './log-segments.ts';
import {
  isFailure,
  isSuspicious,
  scoreLine,
  stampLength,
  statesFailure,
  templateOf,
} from './log-score.ts';
import { joinKept, MARK, readOmitted } from './marker.ts';

/** A log below this many tokens is left alone: markers would eat what is won. */
const MIN_TOKENS = 250;
/** What a log within the budget may still shrink to: little where nothing failed, more where something did. */
const GREEN = { share: 0.25, floor: 200 };
const RED = { share: 0.42, floor: 600 };
/** What a gap costs, as its marker is kept. */
const GAP_TOKENS = 14;
const HEADER_TOKENS = 60;
const BEFORE = 3;
const AFTER = 7;

/** Reduces a build, test, CI or system log to at most `logBudgetTokens`. */
export const reduceLog: Compressor = {
  name: 'log-reduce',
  classes: ['log'],
  apply(text, context): Compressed | undefined {
    const total = estimateTokens(text);
    if (total < MIN_TOKENS) return undefined;
    const lines = text.split('\n');
    const segmented = lines.map(segmentLine);
    const segments = segmented.map(seenParts);
    const suspicious = segments.map((parts) => parts.filter(isSuspicious));
    const hasFailed = suspicious.some((parts) => parts.some((part) => statesFailure(part, true)));
    const { share, floor } = hasFailed ? RED : GREEN;
    const budget = Math.min(context.logBudgetTokens, Math.max(floor, total * share));
    if (total <= budget) return undefined;
    const stamp = sharedStamp(lines);
    const ranking = rankedScores(lines, segments, suspicious);
    const rest = segmented.map((one) =>
      cutLine(one, budget / 4, one.line.startsWith(stamp) ? stamp.length : 0),
    );
    const candidate = fill(spreadScores(ranking), lines, rest, budget - HEADER_TOKENS);
    if (candidate === undefined) return undefined;
    return { text: withHeader(candidate.text, stamp), removed: candidate.removed };
  },
};

/**
 * Chooses lines until the result is near the budget: what markers cost is only known once
 * it is built. Undefined where no line would stay, or none would go.
 */
function fill(
  scores: readonly number[],
  lines: readonly string[],
  rest: readonly string[],
  budget: number,
): Compressed | undefined {
  const ranked = rank(scores, lines, rest);
  const join = (aim: number): Compressed => joinKept(rest, choose(ranked, lines, aim));
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
  const says = best.text.split('\n').some((line) => line.trim() !== '' && !line.startsWith(MARK));
  const isCut = rest.some((line) => line.includes('\n'));
  return says && (isCut || best.removed.length > 0) ? best : undefined;
}

/** A line that may be kept: where it stands and what it costs. */
interface Ranked {
  readonly at: number;
  readonly tokens: number;
  readonly isBlank: boolean;
}

/** The lines, best first; of equals the later one. Noise comes last: it stays while there is room. */
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
 * Which lines to keep: by falling score until the budget is spent. Missing means no. A
 * count of repeats goes with its line. Of what earlier steps left, notes stay, and gaps
 * are announced anew.
 */
function choose(ranked: readonly Ranked[], lines: readonly string[], budget: number): boolean[] {
  const keep: boolean[] = [];
  lines.forEach((line, at) => {
    if (line.startsWith(MARK) && isNote(line)) keep[at] = true;
  });
  let spent = 0;
  for (const { at, tokens, isBlank } of ranked) {
    if (spent >= budget) break;
    const isFolded = readRepeated(lines[at + 1] ?? '') !== undefined;
    const joins = (keep[at - 1] === true ? 1 : 0) + (keep[at + 1] === true ? 1 : 0);
    // A blank line among dropped ones would only part a gap in two.
    if (isBlank && joins === 0) continue;
    const cost = tokens + 1 + GAP_TOKENS * (isFolded ? 1 : 1 - joins);
    if (spent + cost > budget) continue;
    keep[at] = true;
    if (isFolded) keep[at + 1] = true;
    spent += cost;
  }
  return keep;
}

function isNote(mark: string): boolean {
  return readOmitted(mark) === undefined && readRepeated(mark) === undefined;
}

/** Scores with repetition and position counted in. */
function rankedScores(
  lines: readonly string[],
  segments: readonly (readonly string[])[],
  suspicious: readonly (readonly string[])[],
): readonly number[] {
  const seen = new Map<string, number>();
  const plain = segments.map((parts, at) =>
    Math.max(...parts.map((part) => scoreLine(part, suspicious[at]!.includes(part)))),
  );
  const lastFailure = plain.findLastIndex(isFailure);
  const total = lines.reduce((sum, line) => sum + line.length, 0);
  return lines.map((line, at) => {
    const own = plain[at]!;
    if (own <= -2) return own;
    const template = templateOf(segments[at]![0]!);
    const times = seen.get(template) ?? 0;
    seen.set(template, times + 1);
    // Of a line that fills the text something must stay, however little it says.
    const isLong = line.length > 1200 && line.length < total / 2;
    const length = isLong && !isFailure(own) ? -3 : 0;
    const end = lastFailure >= 0 && at <= lastFailure && lastFailure - at < 25 ? 1.5 : 0;
    const tail = at >= lines.length - 6 ? 1 : 0;
    const again = times < 2 ? 0 : -3 - Math.min(4, times / 4);
    return own + end + tail + length + again;
  });
}

/** Lets each line take on part of what its neighbours score: context belongs to a failure. */
function spreadScores(scores: readonly number[]): readonly number[] {
  const out = [...scores];
  scores.forEach((score, at) => {
    if (!isFailure(score)) return;
    for (let step = 1; step <= AFTER; step++) raise(out, at + step, score * 0.7 - step * 0.7);
    for (let step = 1; step <= BEFORE; step++) raise(out, at - step, score * 0.7 - step * 1.1);
  });
  return out;
}

function raise(scores: number[], at: number, score: number): void {
  const now = scores[at];
  if (now !== undefined && now < score) scores[at] = now <= -2 ? Math.min(score, 3) : score;
}

/** The beginning of the time stamps that all lines share, or nothing where too few characters are shared. */
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
  }
  return prefix !== undefined && prefix.length >= 8 && stamped >= (lines.length - marks) * 0.9 - 1
    ? prefix
    : '';
}

function withHeader(text: string, stamp: string): string {
  if (stamp === '') return text;
  return `${MARK}lines that begin like a time stamp had "${stamp}" before them]\n${text}`;
}
