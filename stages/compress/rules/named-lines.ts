/**
 * The lines of a text that the newest question or the call mentions: one test among hundreds that
 * passed, the order a user asks about. Words that occur in many lines identify none of them.
 */
import type { CompressContext } from './rule.ts';

/**
 * Number of characters of a question and of a command that are read, which excludes the
 * here-document of a command.
 */
const QUESTION_CHARS = 1500;
const CALL_CHARS = 400;
/** Maximum number of words that are searched for. */
const MAX_WORDS = 60;
/**
 * A word identifies lines if it occurs in at most this many; an identifier or a quotation may occur
 * in more.
 */
const MAX_LINES_OF_WORD = 3;
const MAX_LINES_OF_NAME = 6;
/** Maximum number of lines kept for all words together. */
const MAX_LINES = 12;
const MIN_WORD_CHARS = 4;
/** Words that identify something although they are short: a status, an abbreviation. */
const SHORT_NAME = /^(?:\d{3}|\p{Lu}{3})$/u;
/** A line with more characters is data, which contains nearly any word. */
const MAX_LINE_CHARS = 1000;

const QUOTED = /(["'`“‘«])([^"'`”’»\n]{3,120})["'`”’»]/g;
const WORD = /[\p{L}\p{N}_@][\p{L}\p{N}_.:/@#-]{1,100}[\p{L}\p{N}_]/gu;
/** A character that plain words do not contain: a digit, a sign, a capital after a small letter. */
const IDENTIFIER = /[\d_.:/@#-]|\p{Ll}\p{Lu}/u;
const LETTER = /[\p{L}\p{N}_]/u;

/** Source of the words of a question and a call. */
export type QueryContext = Pick<CompressContext, 'query' | 'callQuery' | 'call'>;

/** Returns the questions of user and call, as lines. */
export function queryLines({ query, callQuery = '', call = '' }: QueryContext): readonly string[] {
  const command = call.slice(0, CALL_CHARS).split('<<')[0]!;
  return `${query.slice(-QUESTION_CHARS)}\n${callQuery.slice(0, QUESTION_CHARS)}\n${command}`.split(
    '\n',
  );
}

/**
 * Returns the indexes of the lines mentioned, in order; if there are too many, identifiers and
 * quotations win.
 */
export function namedLines(lines: readonly string[], asking: QueryContext): readonly number[] {
  const words = wordsOf(asking);
  if (words.size === 0) return [];
  const searchedLines = lines.map((line) => (line.length > MAX_LINE_CHARS ? '' : line));
  const whole = searchedLines.join('\n');
  const lowered = whole.toLowerCase();
  // Lower-casing can lengthen a text; offsets then no longer match, so the original is searched.
  const text = lowered.length === whole.length ? lowered : whole;
  const starts = startsOf(searchedLines);
  const found = new Set<number>();
  for (const [word, most] of [...words].toSorted((one, other) => other[1] - one[1])) {
    for (const at of linesWith(word, text, starts, most)) {
      if (found.size >= MAX_LINES) break;
      found.add(at);
    }
  }
  return [...found].toSorted((a, b) => a - b);
}

/** Returns true if the question or the call mentions this word, in any case. */
export function isMentioned(word: string, asking: QueryContext): boolean {
  const sought = word.toLowerCase();
  return queryLines(asking).some((line) => line.toLowerCase().includes(sought));
}

const COMMENTS = /\b(?:comment(?:s|ed)?|doc-?strings?|js-?doc|javadoc|todos?|fixmes?)\b/i;

/** Returns true if the newest question is about comments. */
export function asksForComments({ query }: QueryContext): boolean {
  return COMMENTS.test(query);
}

/** Returns the words, in lower case, each with the most lines it may occur in. */
function wordsOf(asking: QueryContext): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  const add = (word: string, max: number): void => {
    if ((word.length >= MIN_WORD_CHARS || SHORT_NAME.test(word)) && words.size < MAX_WORDS)
      words.set(word.toLowerCase(), Math.max(max, words.get(word.toLowerCase()) ?? 0));
  };
  for (const line of queryLines(asking)) {
    for (const [, , phrase] of line.matchAll(QUOTED)) add(phrase!.trim(), MAX_LINES_OF_NAME);
    for (const [word] of line.matchAll(WORD))
      add(
        word,
        IDENTIFIER.test(word) || SHORT_NAME.test(word) ? MAX_LINES_OF_NAME : MAX_LINES_OF_WORD,
      );
  }
  return words;
}

/** Returns the lines with a word as a whole word; none if there are more than `max`. */
function linesWith(
  word: string,
  text: string,
  starts: readonly number[],
  max: number,
): readonly number[] {
  const found = new Set<number>();
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    if (LETTER.test(text.charAt(at - 1)) || LETTER.test(text.charAt(at + word.length))) continue;
    found.add(lineAt(starts, at));
    if (found.size > max) return [];
  }
  return [...found];
}

function startsOf(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
}

/** Returns the last line that starts at or before `at`. */
function lineAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
