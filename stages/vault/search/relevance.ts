/**
 * Decides whether a block is about a question or merely shares words with it. A BM25 score does not
 * tell: it grows with the collection and with the length of the question. What does tell is how
 * much of the question's weight a block covers, by which words, how far its score is from the
 * average, and whether its file is named in the question. The thresholds did best on one half of
 * `fixtures/injection/questions.json` and on the sets of `unseen.json`, after those had been
 * evaluated; `relevance.test.ts` checks them on all.
 */
import { RARE_BLOCKS, wordsOf, type Word } from './question-words.ts';
import { liveCount } from './score.ts';
import type { Corpus, Scored } from './score.ts';
import type { Speller } from '../words/spelling.ts';
import { namesPath } from './subject.ts';
import type { Tokenizer } from '../words/tokenize.ts';

/** Minimum coverage if the question has an `isUnknown` word, whatever else a block contains. */
const MIN_COVERED_UNKNOWN = 0.7;
/** Factor for parts of a name that is not present as a whole. */
const PARTS_WEIGHT = 0.5;
/**
 * Only this many words, the heaviest, make up a long question's weight: no block contains all of a
 * long text.
 */
const MAX_WEIGHED = 12;
/** Minimum coverage by the number of meaningful words in the block, one of them rare. */
const MIN_COVERED = [1, 1, 0.7, 0.6, 0.5] as const;
/** Minimum coverage with two meaningful words, both rare. */
const MIN_COVERED_RARE = 0.6;
const MIN_COVERED_RARE_IN_SMALL = 0.52;
/** Minimum coverage with no rare word, in a collection about one subject. */
const MIN_COVERED_COMMON = [1, 1, 0.75, 0.7] as const;
/**
 * Minimum coverage with a single, rare meaningful word, if it is the question, or if more of the
 * question is present too.
 */
const MIN_COVERED_ALONE = 0.8;
const MIN_COVERED_AMONG = 0.75;
const MIN_WORDS_AMONG = 3;
/**
 * In a larger index nearly any word occurs somewhere: a single word needs all of the rest, and two
 * count for less.
 */
const MAX_BLOCKS_ALONE = 500;
const MIN_WORDS_IN_LARGE = 4;
const MIN_COVERED_IN_LARGE = 0.9;
/** Minimum coverage if a path or an identifier is named. */
const MIN_COVERED_NAMED = 0.55;
/** Minimum coverage if the block's file or a folder of it is named. */
const MIN_COVERED_SUBJECT = 0.45;
/** A name in more than this share of the blocks distinguishes none of them. */
const INFORMATIVE_SHARE = 0.25;
/** A block must score this many times the average, unless it covers nearly all of the question. */
const MIN_DISTANCE = 2;
const NEARLY_ALL = 0.75;
/** Minimum coverage of further blocks, relative to the block that covers most. */
const MIN_SHARE_OF_BEST = 0.7;
const MIN_SHARE_OF_BEST_SUBJECT = 0.45;
/** Factor for the score of a block whose file or folder the question names. */
const SUBJECT_SCORE = 1.5;
/** Minimum number of words and coverage if the meaningful words are common. */
const MIN_WORDS_MANY = 5;
const MIN_COVERED_MANY = 0.8;

/** How well a block covers a question. */
interface Evidence {
  /** Share of the question's weight, 0 to 1. */
  readonly covered: number;
  /** Number of the question's words in it. */
  readonly words: number;
  /** Number of those that are meaningful; of these the rare ones; and rare names. */
  readonly meaningful: number;
  readonly rare: number;
  readonly named: number;
  /** True if the question names the block's file, or a folder that contains it. */
  readonly isSubject: boolean;
}

/** A ranked block and its source. */
interface Ranked extends Scored {
  readonly info: { readonly sourcePath: string };
}

/**
 * Returns those of `scored`, best first, that are about `query`. `terms` are those they were ranked
 * by, and `meanScore` is the average score of a block of the index. Returns at most `top`, and of
 * those beyond the first `top` only blocks of a file that the query names.
 */
export function aboutQuestion<T extends Ranked>(
  how: { readonly corpus: Corpus; readonly tokenizer: Tokenizer; readonly spell: Speller },
  query: string,
  terms: readonly string[],
  scored: readonly T[],
  meanScore: number,
  top: number,
): T[] {
  const { corpus, tokenizer } = how;
  const { words, askedWords } = wordsOf(how, query, terms);
  const heaviest = words.map(({ weight }) => weight).toSorted((a, b) => b - a);
  const weight = heaviest.slice(0, MAX_WEIGHED).reduce((sum, each) => sum + each, 0);
  if (weight === 0) return [];
  const isInformative = (term: string): boolean => {
    const blocks = liveCount(corpus, corpus.postings(term));
    return blocks > 0 && blocks <= Math.max(RARE_BLOCKS, corpus.size * INFORMATIVE_SHARE);
  };
  const named = new Map<string, boolean>();
  const judged = scored.map((each) => {
    const path = each.info.sourcePath;
    const isSubject = named.get(path) ?? namesPath(tokenizer, askedWords, path, isInformative);
    named.set(path, isSubject);
    return { each, evidence: { ...evidenceIn(words, weight, each), isSubject } };
  });
  const hasUnknown = words.some(({ isUnknown }) => isUnknown);
  const max = Math.max(0, ...judged.map(({ evidence }) => evidence.covered));
  return judged
    .filter(({ each, evidence }, rank) => {
      const { covered, isSubject } = evidence;
      if (rank >= top && !isSubject) return false;
      const distance = meanScore === 0 ? 0 : each.score / meanScore;
      if (hasUnknown && covered < MIN_COVERED_UNKNOWN) return false;
      const min = isSubject ? MIN_SHARE_OF_BEST_SUBJECT : MIN_SHARE_OF_BEST;
      return covered >= min * max && isEnough(evidence, distance, corpus.size);
    })
    .map(({ each, evidence: { isSubject } }) => ({
      each,
      score: isSubject ? each.score * SUBJECT_SCORE : each.score,
    }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, top)
    .map(({ each }) => each);
}

function isEnough(
  { covered, words, meaningful, rare, named, isSubject }: Evidence,
  distance: number,
  size: number,
): boolean {
  if (distance < MIN_DISTANCE && covered < NEARLY_ALL) return false;
  if (covered >= minOf(MIN_COVERED_COMMON, meaningful)) return true;
  if (isSubject && covered >= MIN_COVERED_SUBJECT) return true;
  if (meaningful > 0 && words >= MIN_WORDS_MANY && covered >= MIN_COVERED_MANY) return true;
  if (rare === 0) return false;
  if (named > 0 && covered >= MIN_COVERED_NAMED) return true;
  const isSmall = size <= MAX_BLOCKS_ALONE;
  const minOfRare = isSmall ? MIN_COVERED_RARE_IN_SMALL : MIN_COVERED_RARE;
  if (rare > 1 && covered >= minOfRare) return true;
  if (meaningful > 1) return covered >= minOf(MIN_COVERED, meaningful);
  if (!isSmall) return words >= MIN_WORDS_IN_LARGE && covered >= MIN_COVERED_IN_LARGE;
  return covered >= (words < MIN_WORDS_AMONG ? MIN_COVERED_ALONE : MIN_COVERED_AMONG);
}

function minOf(thresholds: readonly number[], count: number): number {
  // One word is never enough by its coverage, even if it is the whole question.
  return count < 2 ? Number.POSITIVE_INFINITY : thresholds[Math.min(count, thresholds.length - 1)]!;
}

function evidenceIn(
  words: readonly Word[],
  weight: number,
  { matched }: Scored,
): Omit<Evidence, 'isSubject'> {
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
