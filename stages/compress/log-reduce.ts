/**
 * Failure-preserving reduction of logs to a token budget. Every line is scored, lines
 * around a failure inherit part of its score, lines that say the same thing again count
 * for less, and the best lines are kept whole, in order, with markers in the gaps.
 */
import { estimateTokens } from '../model/tokens.ts';
import type { Compressed, Compressor } from './compressor.ts';
import {
  isFailure,
  isSuspicious,
  scoreLine,
  stampLength,
  statesFailure,
  templateOf,
} from './log-score.ts';
import { joinKept, MARK } from './marker.ts';

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
    const bare = lines.map((line) => line.slice(stampLength(line)));
    const suspicious = bare.map(isSuspicious);
    const hasFailed = bare.some((line, at) => statesFailure(line, suspicious[at]));
    const { share, floor } = hasFailed ? RED : GREEN;
    const budget = Math.min(context.logBudgetTokens, Math.max(floor, total * share));
    if (total <= budget) return undefined;
    const stamp = sharedStamp(lines);
    const rest = lines.map((line) => line.slice(line.startsWith(stamp) ? stamp.length : 0));
    const scores = spreadScores(rankedScores(bare, suspicious));
    const candidate = fill(scores, rest, budget - HEADER_TOKENS);
    if (candidate.removed.length === 0) return undefined;
    return { text: withHeader(candidate.text, stamp), removed: candidate.removed };
  },
};

/** Chooses lines until the result is near the budget: what markers cost is only known once it is built. */
function fill(scores: readonly number[], rest: readonly string[], budget: number): Compressed {
  const ranked = rank(scores, rest);
  let best = joinKept(rest, choose(ranked, budget));
  let aim = budget;
  for (let round = 0; round < 3; round++) {
    const used = estimateTokens(best.text);
    if (used > budget * 0.96) break;
    aim = Math.round(aim * (budget / Math.max(used, budget / 2)));
    const next = joinKept(rest, choose(ranked, aim));
    if (estimateTokens(next.text) > budget) break;
    best = next;
  }
  return best;
}

/** A line that may be kept: where it stands and what it costs. */
interface Ranked {
  readonly at: number;
  readonly tokens: number;
}

/** The lines worth keeping, best first; of equals the later one. */
function rank(scores: readonly number[], lines: readonly string[]): readonly Ranked[] {
  return lines
    .map((line, at) => ({ at, tokens: estimateTokens(line) }))
    .filter(({ at }) => scores[at]! > -2)
    .toSorted((a, b) => scores[b.at]! - scores[a.at]! || b.at - a.at);
}

/** Which lines to keep: by falling score until the budget is spent. Missing means no. */
function choose(ranked: readonly Ranked[], budget: number): boolean[] {
  const keep: boolean[] = [];
  let spent = 0;
  for (const { at, tokens } of ranked) {
    if (spent >= budget) break;
    const joins = (keep[at - 1] === true ? 1 : 0) + (keep[at + 1] === true ? 1 : 0);
    const cost = tokens + 1 + GAP_TOKENS * (1 - joins);
    if (spent + cost > budget) continue;
    keep[at] = true;
    spent += cost;
  }
  return keep;
}

/** Scores with repetition and position counted in. */
function rankedScores(bare: readonly string[], suspicious: readonly boolean[]): number[] {
  const seen = new Map<string, number>();
  const plain = bare.map((line, at) => scoreLine(line, suspicious[at]));
  const lastFailure = plain.findLastIndex(isFailure);
  return bare.map((line, at) => {
    const own = plain[at]!;
    if (own <= -2) return own;
    const template = templateOf(line);
    const times = seen.get(template) ?? 0;
    seen.set(template, times + 1);
    const length = line.length > 1200 ? -3 : 0;
    const end = lastFailure >= 0 && at <= lastFailure && lastFailure - at < 25 ? 1.5 : 0;
    const tail = at >= bare.length - 6 ? 1 : 0;
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
  for (const line of lines) {
    const length = stampLength(line);
    if (length === 0) continue;
    stamped++;
    prefix ??= line.slice(0, length);
    while (!line.startsWith(prefix)) prefix = prefix.slice(0, -1);
  }
  return prefix !== undefined && prefix.length >= 8 && stamped >= lines.length * 0.9 - 1
    ? prefix
    : '';
}

function withHeader(text: string, stamp: string): string {
  if (stamp === '') return text;
  return `${MARK}lines that begin like a time stamp had "${stamp}" before them]\n${text}`;
}
