/**
 * Whether a block is about a question, or only shares some of its words. A BM25 score does
 * not tell: it grows with the collection and with the length of the question. What tells is
 * how much of the question's weight a block holds, which words that is, and how far its score
 * is from that of any block. The thresholds are those that did best on one half of
 * `fixtures/injection/questions.json`; `relevance.test.ts` holds them against both halves.
 */
import { askingWords } from './asking-words.ts';
import { inverseFrequency, liveCount, MAX_MATCHED_TERMS } from './score.ts';
import type { Corpus, Scored } from './score.ts';
import { stem } from './stem.ts';
import type { Tokenizer } from './tokenize.ts';

/** The least weight of a word, however many blocks hold it, as a share of what the rarest weighs. */
const LEAST_WEIGHT = 0.2;
/** Words that anybody asks with weigh this much of what their rarity says. */
const ASKING_WEIGHT = 0.12;
/** Parts of a name that is not there as a whole count for half of it. */
const PARTS_WEIGHT = 0.5;
/** Of a long question this many words, the heaviest, make up its weight: no block holds all of a long text. */
const MAX_WEIGHED = 12;
/** A word is rare that stands in no more blocks than this, whichever is more. */
const RARE_SHARE = 0.05;
const RARE_BLOCKS = 4;

/** The share of a question that a block must hold, by how many words with a meaning it holds, one of them rare. */
const LEAST_COVERED = [1, 1, 0.7, 0.5, 0.5] as const;
/** Where none is rare, in a collection about one thing. */
const LEAST_COVERED_COMMON = [1, 1, 0.75, 0.7] as const;
/** Where only one word has a meaning, and it is rare: it is the question, or more of the question is there too. */
const LEAST_COVERED_ALONE = 0.85;
const LEAST_COVERED_AMONG = 0.75;
const LEAST_WORDS_AMONG = 3;
/** In a larger index than this nearly any word stands somewhere, and one alone says nothing. */
const MOST_BLOCKS_ALONE = 500;
/** Where a path or an identifier is named. */
const LEAST_COVERED_NAMED = 0.55;
/** A block must score so many times what blocks do on average, unless it holds nearly all of the question. */
const LEAST_DISTANCE = 2;
const NEARLY_ALL = 0.75;
/** Beside the block that holds most of the question, others must hold this much of what it holds. */
const LEAST_OF_BEST = 0.7;

const ASKING: ReadonlySet<string> = new Set(askingWords.map(stem));
const COUNT = /^\d{1,3}$/;
/** What may be one word, or a path or an identifier, in running text. */
const WORD = /[^\s"'`()[\]{}<>,;:!?*|=]+/g;
/** An English word with a capital: inside a sentence it names something, be it one to ask with (Go, Word, Make). */
const CAPITAL = /^[A-Z][a-z]/;
const BEFORE_SENTENCE = /(?:^|[.!?:\n"'`(*#>-])\s*$/;
/** In a heading, where more of the words than this have a capital, it names nothing. */
const MOST_CAPITALS = 0.5;

/** One word of a question. Terms are bits of `Scored.matched`; what no block holds has none. */
interface Word {
  readonly weight: number;
  readonly kind: 'asking' | 'plain' | 'name';
  readonly isRare: boolean;
  /** The word itself; of a name, all of it. */
  readonly whole: number;
  /** The parts of a name. */
  readonly parts: readonly number[];
}

/** How much of a question a block holds. */
interface Evidence {
  /** Of the question's weight, 0 to 1. */
  readonly covered: number;
  /** Words of the question in it. */
  readonly words: number;
  /** Of these, those with a meaning of their own, those of them that are rare, and rare names. */
  readonly meaningful: number;
  readonly rare: number;
  readonly named: number;
}

/**
 * Of `scored`, best first, those that are about `query`. `terms` are what they were ranked
 * by, and `meanScore` is what a block of the index scores on average.
 */
export function aboutQuestion<T extends Scored>(
  { corpus, tokenizer }: { readonly corpus: Corpus; readonly tokenizer: Tokenizer },
  query: string,
  terms: readonly string[],
  scored: readonly T[],
  meanScore: number,
): T[] {
  const words = wordsOf(corpus, tokenizer, query, terms);
  const heaviest = words.map(({ weight }) => weight).toSorted((a, b) => b - a);
  const weight = heaviest.slice(0, MAX_WEIGHED).reduce((sum, each) => sum + each, 0);
  if (weight === 0) return [];
  const judged = scored.map((each) => ({ each, evidence: evidenceIn(words, weight, each) }));
  const most = Math.max(0, ...judged.map(({ evidence }) => evidence.covered));
  return judged
    .filter(({ each, evidence }) => {
      const distance = meanScore === 0 ? 0 : each.score / meanScore;
      return evidence.covered >= LEAST_OF_BEST * most && isEnough(evidence, distance, corpus.size);
    })
    .map(({ each }) => each);
}

function isEnough(
  { covered, words, meaningful, rare, named }: Evidence,
  distance: number,
  size: number,
): boolean {
  if (distance < LEAST_DISTANCE && covered < NEARLY_ALL) return false;
  if (covered >= leastOf(LEAST_COVERED_COMMON, meaningful)) return true;
  if (rare === 0) return false;
  if (named > 0 && covered >= LEAST_COVERED_NAMED) return true;
  if (meaningful > 1) return covered >= leastOf(LEAST_COVERED, meaningful);
  if (size > MOST_BLOCKS_ALONE) return false;
  return covered >= (words < LEAST_WORDS_AMONG ? LEAST_COVERED_ALONE : LEAST_COVERED_AMONG);
}

function leastOf(thresholds: readonly number[], count: number): number {
  // One word alone is never enough by what it covers, be it the whole question.
  return count < 2 ? Number.POSITIVE_INFINITY : thresholds[Math.min(count, thresholds.length - 1)]!;
}

function wordsOf(
  corpus: Corpus,
  tokenizer: Tokenizer,
  query: string,
  terms: readonly string[],
): Word[] {
  const bits = new Map(terms.slice(0, MAX_MATCHED_TERMS).map((term, at) => [term, 1 << at]));
  const words = new Map<string, Word>();
  const least = LEAST_WEIGHT * inverseFrequency(corpus.size, 1);
  const add = (whole: string, parts: readonly string[], isProper = false): void => {
    if (words.has(whole)) return;
    const blocks = liveCount(corpus, corpus.postings(whole));
    // A small number counts something. One of three digits may name it, and does where blocks hold it.
    const isCount = COUNT.test(whole);
    if (isCount && whole.length < 3) return;
    const isAsking = (ASKING.has(whole) && !isProper) || (isCount && blocks === 0);
    const kind = parts.length > 0 ? 'name' : isAsking ? 'asking' : 'plain';
    // What no block holds says as much as what one does: more would make a small vault deaf.
    const rarity = Math.max(inverseFrequency(corpus.size, Math.max(1, blocks)), least);
    words.set(whole, {
      weight: kind === 'asking' ? rarity * ASKING_WEIGHT : rarity,
      kind,
      isRare: blocks <= Math.max(RARE_BLOCKS, corpus.size * RARE_SHARE),
      whole: bits.get(whole) ?? 0,
      parts: parts.map((part) => bits.get(part) ?? 0),
    });
  };
  const texts = [...query.matchAll(WORD)];
  const capitals = texts.filter(([text]) => CAPITAL.test(text)).length;
  const isHeading = capitals > MOST_CAPITALS * texts.length;
  for (const { 0: text, index } of texts) {
    const own = tokenizer.terms(text);
    const whole = own.at(-1);
    const isName = own.length > 1 && whole === text.replace(/(?<![./-])[./-]+$/, '').toLowerCase();
    if (isName) add(whole, own.slice(0, -1));
    else for (const term of own) add(term, [], !isHeading && isProperAt(query, index, text));
  }
  return [...words.values()];
}

function isProperAt(query: string, index: number, text: string): boolean {
  return CAPITAL.test(text) && !BEFORE_SENTENCE.test(query.slice(Math.max(0, index - 8), index));
}

function evidenceIn(words: readonly Word[], weight: number, { matched }: Scored): Evidence {
  let covered = 0;
  const count = { words: 0, meaningful: 0, rare: 0, named: 0 };
  for (const word of words) {
    if ((matched & word.whole) === 0) {
      const found = word.parts.filter((part) => (matched & part) !== 0).length;
      if (found > 0) covered += (word.weight * PARTS_WEIGHT * found) / word.parts.length;
      continue;
    }
    covered += word.weight;
    count.words++;
    if (word.kind === 'asking') continue;
    count.meaningful++;
    if (!word.isRare) continue;
    count.rare++;
    if (word.kind === 'name') count.named++;
  }
  return { covered: Math.min(1, covered / weight), ...count };
}
