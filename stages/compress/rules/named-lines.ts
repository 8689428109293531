/**
 * The lines of a text that the newest question or the call names: one test among hundreds that
 * passed, the order that somebody asks about. Words that stand in many lines name none of them.
 */
import type { CompressContext } from './rule.ts';

/** So many characters of a question and of a command are looked at; what a command is handed as a file is none of it. */
const QUESTION_CHARS = 1500;
const CALL_CHARS = 400;
/** So many words at most are searched for. */
const MOST_WORDS = 60;
/** A word names lines where it stands in at most so many, an identifier or what is quoted in more. */
const LINES_OF_WORD = 3;
const LINES_OF_NAME = 6;
/** So many lines at most stay for all of them. */
const MOST_LINES = 12;
const SHORTEST_WORD = 4;
/** A shorter one names something as well: a status, an abbreviation. */
const SHORT_NAME = /^(?:\d{3}|\p{Lu}{3})$/u;
/** A longer line is data, in which nearly any word stands, in characters. */
const LONGEST_LINE = 1000;

const QUOTED = /(["'`“‘«])([^"'`”’»\n]{3,120})["'`”’»]/g;
const WORD = /[\p{L}\p{N}_@][\p{L}\p{N}_.:/@#-]{1,100}[\p{L}\p{N}_]/gu;
/** What no language's word has inside: a digit, a sign, a capital behind a small letter. */
const IDENTIFIER = /[\d_.:/@#-]|\p{Ll}\p{Lu}/u;
const LETTER = /[\p{L}\p{N}_]/u;

/** Where the words of a question and a call come from. */
export type Asking = Pick<CompressContext, 'query' | 'asked' | 'call'>;

/** What is asked, by user and call, as lines. */
export function askedLines({ query, asked = '', call = '' }: Asking): readonly string[] {
  const command = call.slice(0, CALL_CHARS).split('<<')[0]!;
  return `${query.slice(-QUESTION_CHARS)}\n${asked.slice(0, QUESTION_CHARS)}\n${command}`.split(
    '\n',
  );
}

/** The indexes of the lines that are named, in order; those by identifiers and quotations come before others where there are too many. */
export function namedLines(lines: readonly string[], asking: Asking): readonly number[] {
  const words = wordsOf(asking);
  if (words.size === 0) return [];
  const seen = lines.map((line) => (line.length > LONGEST_LINE ? '' : line));
  const whole = seen.join('\n');
  const lowered = whole.toLowerCase();
  // A few letters are two in lower case: then places are no longer those of the lines.
  const text = lowered.length === whole.length ? lowered : whole;
  const starts = startsOf(seen);
  const found = new Set<number>();
  for (const [word, most] of [...words].toSorted((one, other) => other[1] - one[1])) {
    for (const at of linesWith(word, text, starts, most)) {
      if (found.size >= MOST_LINES) break;
      found.add(at);
    }
  }
  return [...found].toSorted((a, b) => a - b);
}

/** True where the question or the call names this word, in any case. */
export function isNamed(word: string, asking: Asking): boolean {
  const sought = word.toLowerCase();
  return askedLines(asking).some((line) => line.toLowerCase().includes(sought));
}

const COMMENTS = /\b(?:comment(?:s|ed)?|doc-?strings?|js-?doc|javadoc|todos?|fixmes?)\b/i;

/** True where the newest question is about what stands in comments. */
export function asksForComments({ query }: Asking): boolean {
  return COMMENTS.test(query);
}

/** The words, in lower case, and in how many lines each may stand to name them. */
function wordsOf(asking: Asking): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  const add = (word: string, most: number): void => {
    if ((word.length >= SHORTEST_WORD || SHORT_NAME.test(word)) && words.size < MOST_WORDS)
      words.set(word.toLowerCase(), Math.max(most, words.get(word.toLowerCase()) ?? 0));
  };
  for (const line of askedLines(asking)) {
    for (const [, , phrase] of line.matchAll(QUOTED)) add(phrase!.trim(), LINES_OF_NAME);
    for (const [word] of line.matchAll(WORD))
      add(word, IDENTIFIER.test(word) || SHORT_NAME.test(word) ? LINES_OF_NAME : LINES_OF_WORD);
  }
  return words;
}

/** The lines in which a word stands by itself; none where they are more than `most`. */
function linesWith(
  word: string,
  text: string,
  starts: readonly number[],
  most: number,
): readonly number[] {
  const found = new Set<number>();
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    if (LETTER.test(text.charAt(at - 1)) || LETTER.test(text.charAt(at + word.length))) continue;
    found.add(lineAt(starts, at));
    if (found.size > most) return [];
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

/** The last line that starts at `at` or before. */
function lineAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
