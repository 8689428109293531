/**
 * Shortens a long result to its most useful parts: head and tail, what the newest question and the
 * call name, and its outline. Lines are kept whole and unchanged; markers say which are missing and
 * how to request them from the tool.
 */
import { openEnvelope } from '../../../model/classify/envelope.ts';
import type { Classification } from '../../../model/classify/classes.ts';
import { costsAtLeast, estimateTokens } from '../../../model/tokens.ts';
import type { Definitions } from '../../rules/code/definitions.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { lineContents, splitNumbers } from '../../repeats/gutter.ts';
import type { Compressed, LineRange } from '../../rules/rule.ts';
import { lineBreaks } from '../../text/line-breaks.ts';
import { MARK, laterOmissionMarker } from '../../text/marker.ts';
import { rangesWithout, replaceRanges } from '../../text/ranges.ts';
import { fillRange, type RangeRequest } from './range-request.ts';
import { containsTerm, searchTermsOf } from './search-terms.ts';
import { outlineOf, type OutlineEntry } from './outline.ts';

/** Kept share of the token count from which a result is long. */
const KEPT_SHARE = 1 / 3;
/** Shares of the kept tokens for the ends and for named lines; the outline gets the rest. */
const START_SHARE = 0.2;
const TAIL_SHARE = 0.1;
const NAMED_SHARE = 0.4;
/**
 * Budget for the least indented lines of the outline if all of them fit, as a share of the kept
 * tokens.
 */
const WHOLE_OUTLINE_SHARE = 1.25;
const START_LINES = 40;
const TAIL_LINES = 15;
/**
 * A blank line, or one that only opens a comment, after an optional line number; matches trimmed
 * text.
 */
const BLANK_OR_OPENING = /^(?:\d+[\t→:|]? ?)?\s*(?:\/\*+|"""|'''|<!--)?$/;
/** Lines of context around a named line. */
const CONTEXT_LINES = 2;
const CONTEXT_OF_LINE_NUMBER = 8;
/** A name on more lines than this distinguishes nothing. */
const MAX_MENTIONS = 12;
/** A smaller gap is shorter than its marker. */
const MIN_GAP_LINES = 3;
const MIN_GAP_TOKENS = 20;
const MARKER_TOKENS = 10;
/** If lines are this long on average, requesting them by number does not help. */
const MAX_MEAN_CHARS = 1000;
/** The client already cut the text: lines after the cut have other numbers. */
const TRUNCATION_NOTICE =
  /^\W{0,8}(?:output )?[\d,]* ?(?:lines |chars? |characters )?(?:truncated|omitted)\W|…\d+ (?:tokens|chars) truncated…/im;

export interface LongText {
  readonly block: ConversationBlock;
  readonly classification: Classification;
  readonly query: string;
  /** How a part is requested from the tool. */
  readonly words: RangeRequest;
  readonly longTokens: number;
  readonly definitions: Definitions | undefined;
}

/** Returns undefined if nothing would be left out. May throw `GrammarNeeded`. */
export function shortenLong(text: string, long: LongText): Compressed | undefined {
  const { prefix, body, suffix } = openEnvelope(text);
  const lines = body.split('\n');
  if (body.length > lines.length * MAX_MEAN_CHARS || TRUNCATION_NOTICE.test(body)) return undefined;
  const firstLine = firstNumber(lines);
  if (firstLine === undefined) return undefined;
  const removed = rangesToOmit(lines, firstLine, long);
  if (removed.length === 0) return undefined;
  const before = lineBreaks(prefix);
  const total = lines.length - (lines.at(-1) === '' ? 1 : 0);
  const excerpt = replaceRanges(lines, removed, ({ from, to }, nth) => {
    const range = { from: from + firstLine - 1, to: to + firstLine - 1 };
    if (nth === 0) return [firstMarker(range, total, long.words)];
    return [nextMarker(range, range.from === from + before)];
  });
  return {
    text: prefix + excerpt.join('\n') + suffix,
    removed: removed.map(({ from, to }) => ({ from: from + before, to: to + before })),
  };
}

/**
 * `[svc omitted 412 of 1460 lines here (lines 13–424); the source is complete; to see them: Read
 * with offset 13 and limit 412]`
 */
function firstMarker({ from, to }: LineRange, total: number, words: string): string {
  return `${MARK}omitted ${to - from} of ${total} lines here (lines ${from + 1}–${to}); the source is complete; to see them: ${fillRange(words, from, to)}]`;
}

/**
 * Returns the marker for later gaps; `isPlain` is false if line numbers differ from those in the
 * result.
 */
function nextMarker(range: LineRange, isPlain: boolean): string {
  return isPlain
    ? laterOmissionMarker(range)
    : laterOmissionMarker(range).replace(/\]$/, ' of the file]');
}

/**
 * Returns the first line's number in a numbered view, else 1; undefined if numbers do not rise by
 * one.
 */
function firstNumber(lines: readonly string[]): number | undefined {
  const { prefixes } = splitNumbers(lines);
  if (prefixes === undefined) return 1;
  const firsts = prefixes.flatMap((prefix, at) => {
    const number = /\d+/.exec(prefix)?.[0];
    return number === undefined ? [] : [Number(number) - at];
  });
  return firsts.every((first) => first === firsts[0]) ? firsts[0] : undefined;
}

/**
 * Returns the lines to leave out: all but the ends, named lines and the outline, within the budget.
 */
function rangesToOmit(
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
  const terms = searchTermsOf(query, block);
  const limit = kept.tokens + budget * NAMED_SHARE;
  for (const number of terms.lines)
    kept.take(
      number - firstLine - CONTEXT_OF_LINE_NUMBER,
      number - firstLine + CONTEXT_OF_LINE_NUMBER + 1,
      limit,
    );
  const entries = outline.filter(({ name }) => containsTerm(name, terms.words));
  for (const { from, signatureEnd, to } of entries.toSorted(shortestFirst))
    if (!kept.take(from, to, limit)) kept.take(from, signatureEnd, limit);
  const mentions = terms.exact
    .map((name) => contents.flatMap((line, at) => (line.includes(name) ? [at] : [])))
    .filter((rows) => rows.length <= MAX_MENTIONS)
    .toSorted((one, other) => one.length - other.length);
  for (const row of mentions.flat()) kept.take(row - CONTEXT_LINES, row + CONTEXT_LINES + 1, limit);
  const outermost = outline.filter(({ depth }) => depth === 0);
  const cost = outermost.reduce(
    (sum, { from, signatureEnd }) => sum + kept.costOf(from, signatureEnd),
    0,
  );
  // An outline that breaks off midway is less useful than a complete one.
  const room = kept.tokens + cost <= longTokens * WHOLE_OUTLINE_SHARE ? kept.tokens + cost : 0;
  takeOutline(outline, ({ from, signatureEnd }) =>
    kept.take(from, signatureEnd, Math.max(budget, room)),
  );
  return kept.gaps();
}

const shortestFirst = (one: OutlineEntry, other: OutlineEntry): number =>
  one.to - one.from - (other.to - other.from);

/** Takes entries level by level, outermost first, until one does not fit. */
function takeOutline(
  outline: readonly OutlineEntry[],
  take: (entry: OutlineEntry) => boolean,
): void {
  const deepest = outline.reduce((most, { depth }) => Math.max(most, depth), 0);
  for (let depth = 0; depth <= deepest; depth++)
    for (const entry of outline) if (entry.depth === depth && !take(entry)) return;
}

/** The lines of a text that are kept, and their cost in tokens. */
class KeptLines {
  readonly #lines: readonly string[];
  readonly #keep: boolean[];
  #tokens = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#keep = lines.map(() => false);
  }

  /** Tokens of the kept lines, including an allowance for their markers. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Keeps lines if all kept lines together fit into `limit` tokens; returns whether they did. */
  take(from: number, to: number, limit: number): boolean {
    const [start, end] = [Math.max(from, 0), Math.min(to, this.#lines.length)];
    const more = this.#costOf(start, end);
    if (more === 0) return true;
    if (this.#tokens + more + MARKER_TOKENS > limit) return false;
    this.#keep.fill(true, start, end);
    this.#tokens += more + MARKER_TOKENS;
    return true;
  }

  /** Returns the cost of keeping these lines, including the marker. */
  costOf(from: number, to: number): number {
    const cost = this.#costOf(from, to);
    return cost === 0 ? 0 : cost + MARKER_TOKENS;
  }

  takeFirst(most: number, tokens: number): void {
    let end = 0;
    while (end < most && this.#costOf(0, end + 1) <= tokens) end++;
    // The opening of a comment is useless without the comment.
    while (end > 1 && BLANK_OR_OPENING.test(this.#lines[end - 1]!.trim())) end--;
    this.take(0, end, Infinity);
  }

  takeLast(most: number, tokens: number): void {
    const end = this.#lines.length;
    let count = 0;
    while (count < most && this.#costOf(end - count - 1, end) <= tokens) count++;
    this.take(end - count, end, Infinity);
  }

  /** Returns the gaps between kept lines; gaps shorter than their markers are kept. */
  gaps(): readonly LineRange[] {
    return rangesWithout(this.#keep).filter(({ from, to }) => {
      const gap = this.#lines.slice(from, to);
      return gap.length >= MIN_GAP_LINES && costsAtLeast(gap.join('\n'), MIN_GAP_TOKENS);
    });
  }

  #costOf(from: number, to: number): number {
    let tokens = 0;
    for (let at = Math.max(from, 0); at < to; at++)
      if (this.#keep[at] === false) tokens += estimateTokens(this.#lines[at]!) + 1;
    return tokens;
  }
}
