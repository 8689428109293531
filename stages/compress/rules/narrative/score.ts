/**
 * Scores how relevant a sentence is to the question (BM25 over stems, including its paragraph and
 * its neighbours), and how much of it another question could need.
 */
import { estimateTokens } from '../../../model/tokens.ts';
import type { Chunk } from './chunks.ts';

const K1 = 1.2;
const B = 0.6;

const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its may me my no not of on or our she so some such than that the their them then there these they this those to up us was we were what when where which who whom whose why will with would you your'.split(
    ' ',
  ),
);

/** The meaningful words of a chunk, as stems. */
export type Words = readonly string[];

/** Returns the words of every chunk. Most words of a text recur, so each is stemmed once. */
export function wordsOfEach(chunks: readonly Chunk[]): readonly Words[] {
  const known = new Map<string, string>();
  return chunks.map((chunk) => wordsOf(chunk.text, known));
}

function wordsOf(text: string, known = new Map<string, string>()): Words {
  const stems: string[] = [];
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (STOP_WORDS.has(word)) continue;
    let stemmed = known.get(word);
    if (stemmed === undefined) known.set(word, (stemmed = stem(word)));
    stems.push(stemmed);
  }
  return stems;
}

/**
 * Stems a word lightly: enough for "production" and "produced" to match, little enough to be
 * predictable.
 */
function stem(word: string): string {
  if (word.length < 5) return word.endsWith('s') && word.length > 3 ? word.slice(0, -1) : word;
  return word
    .replace(/(?:ization|ational|fulness|iveness|ousness)$/, '')
    .replace(
      /(?:ations?|ingly|edly|ments?|ities|ness|ings?|ions?|ies|ers?|ors?|ed|es|ly|al|ic|s|e|y)$/,
      '',
    )
    .slice(0, 9);
}

/** Words that tell an agent to go on and ask nothing of a text. */
const GENERIC_WORDS: ReadonlySet<string> = new Set(
  wordsOf(
    'go continue proceed next task please ok okay yes yeah sure thanks thank make let now again try work start begin step also just need want help get see look good great job keep finish done everything all rest well further more carry ahead do it follow',
  ),
);

/**
 * Returns a score from 0 to 1 for each chunk; undefined if query and text share no meaningful word.
 */
export function queryScores(
  chunks: readonly Chunk[],
  words: readonly Words[],
  query: string,
): readonly number[] | undefined {
  const terms = new Set(wordsOf(query));
  if (terms.size === 0) return undefined;
  const idf = inverseFrequency(words, terms);
  if ([...idf.keys()].every((word) => GENERIC_WORDS.has(word))) return undefined;
  const mean = words.reduce((sum, list) => sum + list.length, 0) / (words.length || 1);
  const own = words.map((list) => bm25(list, idf, mean));
  const paragraphs = paragraphScores(chunks, words, idf);
  const raw = own.map((score, at) => {
    const near = Math.max(own[at - 1] ?? 0, own[at + 1] ?? 0);
    return score + 0.35 * near + 0.5 * paragraphs[at]!;
  });
  const top = Math.max(...raw);
  return top === 0 ? undefined : raw.map((score) => score / top);
}

/** A heading, including a line of its own that ends with a colon or is bold. */
const HEADING = /^\s{0,3}(?:#{1,6} |\*\*[^*]{1,120}\*\*:?$|[^.!?]{1,80}:$)/;

/**
 * Marks the chunks that answer the call's question: those under a heading with one of its words,
 * and, if there are headings, the text above them and the summary at the very end.
 */
export function answeringChunks(
  chunks: readonly Chunk[],
  words: readonly Words[],
  question: string,
): readonly boolean[] {
  const terms = new Set(wordsOf(question));
  if (terms.size === 0) return [];
  const isHeading = chunks.map(({ droppable, text }) => !droppable && HEADING.test(text));
  const last = chunks.at(-1)?.line;
  let isAnswer = isHeading.includes(true);
  return chunks.map(({ line }, at) => {
    if (isHeading[at] === true) isAnswer = words[at]!.some((word) => terms.has(word));
    return isAnswer || line === last;
  });
}

function inverseFrequency(
  words: readonly (readonly string[])[],
  terms: ReadonlySet<string>,
): Map<string, number> {
  const total = words.length;
  const found = [...frequencies(words)].filter(([word]) => terms.has(word));
  return new Map(found.map(([word, n]) => [word, Math.log(1 + (total - n + 0.5) / (n + 0.5))]));
}

/** Counts the chunks that contain each word. */
function frequencies(words: readonly Words[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const list of words)
    for (const word of new Set(list)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function bm25(words: readonly string[], idf: ReadonlyMap<string, number>, mean: number): number {
  const counts = new Map<string, number>();
  for (const word of words) if (idf.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  let score = 0;
  for (const [word, count] of counts) {
    const norm = count + K1 * (1 - B + (B * words.length) / (mean || 1));
    score += idf.get(word)! * ((count * (K1 + 1)) / norm);
  }
  return score;
}

/** Scores the line of each chunk: a relevant paragraph lifts all of its sentences. */
function paragraphScores(
  chunks: readonly Chunk[],
  words: readonly (readonly string[])[],
  idf: ReadonlyMap<string, number>,
): readonly number[] {
  const found = new Map<number, Set<string>>();
  chunks.forEach((chunk, at) => {
    const set = found.get(chunk.line) ?? new Set<string>();
    for (const word of words[at]!) if (idf.has(word)) set.add(word);
    found.set(chunk.line, set);
  });
  return chunks.map((chunk) =>
    [...found.get(chunk.line)!].reduce((sum, word) => sum + idf.get(word)!, 0),
  );
}

/**
 * Returns for each chunk how much of it could be needed later, per token of its cost; 1 is the
 * text's mean. It counts words that occur nowhere else in the text, since repeated content survives
 * anyway. The opening of a paragraph states its topic. (On people's questions about encyclopedic
 * text, counts of names and numbers predicted less than this.)
 */
export function laterValue(chunks: readonly Chunk[], words: readonly Words[]): readonly number[] {
  const found = frequencies(words);
  const values = chunks.map((chunk, at) => {
    let unique = 0;
    for (const word of new Set(words[at])) if (found.get(word) === 1) unique++;
    const opens = chunk.line === chunks[at - 1]?.line ? 0 : 4;
    return (unique + 4 + opens) / estimateTokens(chunk.text || ' ');
  });
  const mean = values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
  return values.map((value) => value / mean);
}
