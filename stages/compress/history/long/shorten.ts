/**
 * A long result as the parts of it that say most: its head and tail, what the newest question
 * and the call name, and its outline. Whole lines stay, each as it came; markers say which are
 * missing and how the tool is asked for them.
 */
import { openEnvelope } from '../../../model/classify/envelope.ts';
import type { Classification } from '../../../model/classify/classes.ts';
import { costsAtLeast, estimateTokens } from '../../../model/tokens.ts';
import type { Definitions } from '../../rules/code/definitions.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { lineContents, splitNumbers } from '../../repeats/gutter.ts';
import type { Compressed, LineRange } from '../../rules/rule.ts';
import { lineBreaks } from '../../text/line-breaks.ts';
import { MARK, omittedMore } from '../../text/marker.ts';
import { rangesWithout, replaceRanges } from '../../text/ranges.ts';
import { requestFor, type RequestWords } from './request-lines.ts';
import { isNamed, namedIn } from './named.ts';
import { outlineOf, type OutlineEntry } from './outline.ts';

/** What is kept, as a share of the tokens from which on a result counts as long. */
const KEPT_SHARE = 1 / 3;
/** Shares of that for the ends and for what is named; the outline has the rest. */
const START_SHARE = 0.2;
const TAIL_SHARE = 0.1;
const NAMED_SHARE = 0.4;
/** What the outermost lines of an outline may take where all of them fit into it, as a share of the same. */
const WHOLE_OUTLINE_SHARE = 1.25;
const START_LINES = 40;
const TAIL_LINES = 15;
/** A blank line, or one that opens a comment, after the number that a view prints; without white space around it. */
const OPENS = /^(?:\d+[\t→:|]? ?)?\s*(?:\/\*+|"""|'''|<!--)?$/;
/** Lines around one that is named. */
const AROUND = 2;
const AROUND_NUMBER = 8;
/** A name that stands in more lines than this tells nothing apart. */
const MAX_MENTIONS = 12;
/** A smaller gap is shorter than its marker. */
const LEAST_GAP = 3;
const LEAST_GAP_TOKENS = 20;
const MARKER_TOKENS = 10;
/** Where lines are this long, asking for lines is no help. */
const MAX_MEAN_CHARS = 1000;
/** A harness that cut the text itself: the lines behind have other numbers. */
const CUT_BEFORE =
  /^\W{0,8}(?:output )?[\d,]* ?(?:lines |chars? |characters )?(?:truncated|omitted)\W|…\d+ (?:tokens|chars) truncated…/im;

export interface LongText {
  readonly block: ConversationBlock;
  readonly classification: Classification;
  readonly query: string;
  /** How the tool is asked for a part. */
  readonly words: RequestWords;
  readonly longTokens: number;
  readonly definitions: Definitions | undefined;
}

/** Undefined where nothing would go. May throw `GrammarNeeded`. */
export function shortenLong(text: string, long: LongText): Compressed | undefined {
  const { prefix, body, suffix } = openEnvelope(text);
  const lines = body.split('\n');
  if (body.length > lines.length * MAX_MEAN_CHARS || CUT_BEFORE.test(body)) return undefined;
  const firstLine = firstNumber(lines);
  if (firstLine === undefined) return undefined;
  const removed = leftOutOf(lines, firstLine, long);
  if (removed.length === 0) return undefined;
  const before = lineBreaks(prefix);
  const total = lines.length - (lines.at(-1) === '' ? 1 : 0);
  const shown = replaceRanges(lines, removed, ({ from, to }, nth) => {
    const range = { from: from + firstLine - 1, to: to + firstLine - 1 };
    if (nth === 0) return [leftOut(range, total, long.words)];
    return [leftOutMore(range, range.from === from + before)];
  });
  return {
    text: prefix + shown.join('\n') + suffix,
    removed: removed.map(({ from, to }) => ({ from: from + before, to: to + before })),
  };
}

/** `[svc omitted 412 of 1460 lines here (lines 13–424); the source is complete; to see them: Read with offset 13 and limit 412]` */
function leftOut({ from, to }: LineRange, total: number, words: string): string {
  return `${MARK}omitted ${to - from} of ${total} lines here (lines ${from + 1}–${to}); the source is complete; to see them: ${requestFor(words, from, to)}]`;
}

/** For later gaps of the same text; not `isPlain` where the lines are numbered otherwise than in the result. */
function leftOutMore(range: LineRange, isPlain: boolean): string {
  return isPlain ? omittedMore(range) : omittedMore(range).replace(/\]$/, ' of the file]');
}

/** The number of the first line: as a numbered view shows it, else 1. Undefined where the numbers do not count up by one. */
function firstNumber(lines: readonly string[]): number | undefined {
  const { prefixes } = splitNumbers(lines);
  if (prefixes === undefined) return 1;
  const firsts = prefixes.flatMap((prefix, at) => {
    const number = /\d+/.exec(prefix)?.[0];
    return number === undefined ? [] : [Number(number) - at];
  });
  return firsts.every((first) => first === firsts[0]) ? firsts[0] : undefined;
}

/** The lines that go: all but the ends, what is named, and the outline, as far as the budget reaches. */
function leftOutOf(
  lines: readonly string[],
  firstLine: number,
  { block, classification, query, longTokens, definitions }: LongText,
): readonly LineRange[] {
  const contents = lineContents(lines);
  const kept = new KeptLines(lines);
  const budget = longTokens * KEPT_SHARE;
  kept.takeFirst(START_LINES, budget * START_SHARE);
  kept.takeLast(TAIL_LINES, budget * TAIL_SHARE);
  const outline = outlineOf(contents, classification, definitions);
  const named = namedIn(query, block);
  const limit = kept.tokens + budget * NAMED_SHARE;
  for (const number of named.lines)
    kept.take(number - firstLine - AROUND_NUMBER, number - firstLine + AROUND_NUMBER + 1, limit);
  const entries = outline.filter(({ name }) => isNamed(name, named.words));
  for (const { from, signatureEnd, to } of entries.toSorted(shortestFirst))
    if (!kept.take(from, to, limit)) kept.take(from, signatureEnd, limit);
  const mentions = named.exact
    .map((name) => contents.flatMap((line, at) => (line.includes(name) ? [at] : [])))
    .filter((rows) => rows.length <= MAX_MENTIONS)
    .toSorted((one, other) => one.length - other.length);
  for (const row of mentions.flat()) kept.take(row - AROUND, row + AROUND + 1, limit);
  const outermost = outline.filter(({ depth }) => depth === 0);
  const cost = outermost.reduce(
    (sum, { from, signatureEnd }) => sum + kept.costOf(from, signatureEnd),
    0,
  );
  // An outline that breaks off in the middle says less than one that is whole.
  const room = kept.tokens + cost <= longTokens * WHOLE_OUTLINE_SHARE ? kept.tokens + cost : 0;
  takeOutline(outline, ({ from, signatureEnd }) =>
    kept.take(from, signatureEnd, Math.max(budget, room)),
  );
  return kept.gaps();
}

const shortestFirst = (one: OutlineEntry, other: OutlineEntry): number =>
  one.to - one.from - (other.to - other.from);

/** The outermost first, level by level, until one does not fit. */
function takeOutline(
  outline: readonly OutlineEntry[],
  take: (entry: OutlineEntry) => boolean,
): void {
  const deepest = outline.reduce((most, { depth }) => Math.max(most, depth), 0);
  for (let depth = 0; depth <= deepest; depth++)
    for (const entry of outline) if (entry.depth === depth && !take(entry)) return;
}

/** Which lines of a text stay, and what that costs. */
class KeptLines {
  readonly #lines: readonly string[];
  readonly #keep: boolean[];
  #tokens = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#keep = lines.map(() => false);
  }

  /** Tokens of the lines and about as many of their markers. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Keeps lines if that fits, with all that is kept, into so many tokens. */
  take(from: number, to: number, limit: number): boolean {
    const [start, end] = [Math.max(from, 0), Math.min(to, this.#lines.length)];
    const more = this.#costOf(start, end);
    if (more === 0) return true;
    if (this.#tokens + more + MARKER_TOKENS > limit) return false;
    this.#keep.fill(true, start, end);
    this.#tokens += more + MARKER_TOKENS;
    return true;
  }

  /** What these lines take if they are kept, with a marker. */
  costOf(from: number, to: number): number {
    const cost = this.#costOf(from, to);
    return cost === 0 ? 0 : cost + MARKER_TOKENS;
  }

  takeFirst(most: number, tokens: number): void {
    let end = 0;
    while (end < most && this.#costOf(0, end + 1) <= tokens) end++;
    // What only opens a comment says nothing without it.
    while (end > 1 && OPENS.test(this.#lines[end - 1]!.trim())) end--;
    this.take(0, end, Infinity);
  }

  takeLast(most: number, tokens: number): void {
    const end = this.#lines.length;
    let count = 0;
    while (count < most && this.#costOf(end - count - 1, end) <= tokens) count++;
    this.take(end - count, end, Infinity);
  }

  /** The others, but for gaps that are shorter than their markers. */
  gaps(): readonly LineRange[] {
    return rangesWithout(this.#keep).filter(({ from, to }) => {
      const gap = this.#lines.slice(from, to);
      return gap.length >= LEAST_GAP && costsAtLeast(gap.join('\n'), LEAST_GAP_TOKENS);
    });
  }

  #costOf(from: number, to: number): number {
    let tokens = 0;
    for (let at = Math.max(from, 0); at < to; at++)
      if (this.#keep[at] === false) tokens += estimateTokens(this.#lines[at]!) + 1;
    return tokens;
  }
}
