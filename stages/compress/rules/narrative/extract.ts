/**
 * Extractive shortening of prose. If a query is known, from the user or the call, the sentences
 * least related to it and least likely to be needed later are left out whole; without a query only
 * copies of earlier sentences are. Kept sentences are never changed inside.
 */
import type { Apply, CompressContext, Compressed, LineRange } from '../rule.ts';
import { MARK } from '../../text/marker.ts';
import { chunkText, type Chunk } from './chunks.ts';
import { answeringChunks, laterValue, queryScores, wordsOfEach, type Words } from './score.ts';
import { estimateTokens } from '../../../model/tokens.ts';

/** A narrative below this many tokens is left alone. */
const MIN_TOKENS = 600;
const MIN_CHUNKS = 12;
/** A shorter sentence is never dropped, in characters. */
const MIN_SENTENCE_CHARS = 20;
/** Share of tokens kept, by mode. */
const KEPT_SHARE = { strict: 1, hybrid: 0.728, aggressive: 0.325 } as const;
/**
 * A chunk with at least this relevance to the question, from 0 to 1, is always kept. Below that,
 * `hybrid` ranks by later value, `aggressive` by relevance alone.
 */
const MIN_RELEVANCE = 0.5;
const QUERY_WEIGHT = { strict: 0, hybrid: 0, aggressive: 40 } as const;
/** Shorter sentences may be repeated on purpose. */
const MIN_COPY_CHARS = 40;

/** Drops sentences of long prose. */
export const extractNarrative: Apply = (text, context) => {
  if (estimateTokens(text) < MIN_TOKENS || !mayHoldProse(text)) return undefined;
  const chunks = chunkText(text, context.maxChars);
  const prose = chunks.filter((chunk) => chunk.droppable).length;
  if (prose < MIN_CHUNKS) return undefined;
  const words = wordsOfEach(chunks);
  const keep = choose(chunks, words, context);
  const out = print(chunks, keep);
  return out.removed.length === 0 ? undefined : out;
};

/**
 * Returns false if the lines are too short for sentences: a megabyte of those need not be split to
 * see that.
 */
function mayHoldProse(text: string): boolean {
  let room = 0;
  for (let from = 0; from < text.length && room < MIN_CHUNKS;) {
    const end = text.indexOf('\n', from);
    const length = (end < 0 ? text.length : end) - from;
    room += Math.floor(length / MIN_SENTENCE_CHARS);
    from += length + 1;
  }
  return room >= MIN_CHUNKS;
}

function choose(
  chunks: readonly Chunk[],
  words: readonly Words[],
  context: CompressContext,
): boolean[] {
  const keep = findCopies(chunks).map((copy) => !copy);
  const { callQuery = '', query } = context;
  const answers = answeringChunks(chunks, words, callQuery);
  const scores = queryScores(chunks, words, `${callQuery}\n${query}`);
  // Without common words there is nothing to rank by: unique sentences are kept.
  if (scores === undefined) return keep;
  const sizes = chunks.map((chunk) => estimateTokens(chunk.text));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let excess =
    sizes.reduce((sum, size, at) => sum + (keep[at] === true ? size : 0), 0) -
    total * KEPT_SHARE[context.mode];
  const values = laterValue(chunks, words);
  const worth = scores.map(
    (score, at) =>
      values[at]! + QUERY_WEIGHT[context.mode] * score + (score >= MIN_RELEVANCE ? 100 : 0),
  );
  const order = chunks
    .map((_, at) => at)
    .filter((at) => keep[at] === true && chunks[at]!.droppable && answers[at] !== true)
    .toSorted((a, b) => worth[a]! - worth[b]! || a - b);
  for (const at of order) {
    if (excess < sizes[at]! / 2) continue;
    keep[at] = false;
    excess -= sizes[at]!;
  }
  return keep;
}

/** Marks the chunks that repeat an earlier one word for word. */
function findCopies(chunks: readonly Chunk[]): readonly boolean[] {
  const seen = new Set<string>();
  return chunks.map((chunk) => {
    if (!chunk.droppable || chunk.text.length < MIN_COPY_CHARS) return false;
    const key = normalizedSentence(chunk.text);
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  });
}

const PUNCTUATION_AROUND =
  /^["'“”‘’([]+(?:[.,;:!"'“”‘’)\]…]+$)?|(?<![.,;:!"'“”‘’)\]…])[.,;:!"'“”‘’)\]…]+$/g;
/**
 * Punctuation after a number that only ends a clause; other signs carry meaning, as 5' is not 5".
 */
const PUNCTUATION_AFTER_NUMBER = /(?<![.,;:)])[.,;:)]+$/;

/**
 * Normalizes a sentence: drops white space and punctuation around words, except a question mark.
 * The case of its first letter is dropped too; further in, case may tell a name from a word. Signs
 * inside a word or before a number are kept.
 */
function normalizedSentence(sentence: string): string {
  const words = sentence
    .split(/\s+/)
    .map((word) =>
      word.replace(/\d/.test(word) ? PUNCTUATION_AFTER_NUMBER : PUNCTUATION_AROUND, ''),
    )
    .filter((word) => word !== '')
    .join(' ');
  return words.slice(0, 1).toLowerCase() + words.slice(1);
}

/** Prints the kept chunks unchanged, with a short marker in each gap. */
function print(chunks: readonly Chunk[], keep: readonly boolean[]): Compressed {
  const removed: LineRange[] = [];
  let dropped = 0;
  let out = '';
  for (let at = 0; at < chunks.length; at++) {
    const chunk = chunks[at]!;
    if (keep[at] === true) {
      out += chunk.text + chunk.space;
      continue;
    }
    dropped++;
    removed.push({ from: chunk.line, to: chunk.line + 1 });
    if (keep[at - 1] === true || at === 0) out += '… ';
    if (keep[at + 1] === true && chunk.space.includes('\n')) out = out.trimEnd() + chunk.space;
  }
  const note = `${MARK}omitted ${dropped} of ${chunks.length} sentences, at each …; the source is complete]`;
  return { text: `${note}\n${out}`, removed };
}
