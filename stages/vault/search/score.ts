/**
 * BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with Lucene's
 * inverse document frequency, computed here and not by a storage engine, so that every backend
 * gives the same scores for the same blocks. With k1 = 1.2 and b = 0.75 a term that occurs once in
 * a block of average length adds exactly its inverse document frequency, in a small index times
 * `sizeFactor`.
 */

const K1 = 1.2;
const B = 0.75;

/**
 * A smaller vault is scored as if it had this many blocks. Among three blocks every term is
 * "frequent", no score reaches any useful minimum, and a new user's first notes would never be
 * worth sending.
 */
const MIN_POPULATION = 10;
/** Scores in a smaller index are raised to the level of one with this many blocks. */
const REFERENCE_SIZE = 10_000;

/**
 * A block’s number and a term’s count in it, as `block * 256 + count`; block numbers stay below
 * 2^24.
 */
export type Posting = number;

/** The index data that scoring needs; block numbers are the index's own, small and dense. */
export interface Corpus {
  /** Number of live blocks. */
  readonly size: number;
  /** Sum of their lengths in terms. */
  readonly totalLength: number;
  /** Length in terms by block number; 0 for a dead block. */
  readonly lengths: Int32Array;
  /** True while no postings list contains a dead block, so that no check is needed. */
  readonly allLive: boolean;
  /** Returns all blocks that contain `term`, including dead ones. */
  postings(term: string): ArrayLike<Posting>;
}

/** Limited by the bits of a number. */
export const MAX_MATCHED_TERMS = 32;

/** A block number and its score, above zero. */
export interface Scored {
  readonly block: number;
  readonly score: number;
  /** The terms that the block contains: bit `n` for term `n`, of the first `MAX_MATCHED_TERMS`. */
  readonly matched: number;
}

/** The result of a ranking. */
export interface Ranking {
  /**
   * Returns the best `top`, best first, plus all ties with the last, so that the caller can order
   * them alike for every backend.
   */
  bestScored(top: number): Scored[];
  /** Average score of a block of the index, including blocks with none of the terms. */
  readonly meanScore: number;
}

/**
 * Scores every block that contains at least one of `terms`, once, however often the ranking is
 * queried. `accepts` excludes blocks before they take a place.
 */
export function rank(
  corpus: Corpus,
  terms: readonly string[],
  accepts: (block: number) => boolean = () => true,
): Ranking {
  const scores = new Float64Array(corpus.lengths.length);
  const matched = new Uint32Array(corpus.lengths.length);
  const touched: number[] = [];
  const averageLength = corpus.size === 0 ? 1 : corpus.totalLength / corpus.size;
  const weights = { averageLength, scores, matched, touched };
  for (const [at, term] of terms.entries()) {
    addTerm(corpus, corpus.postings(term), at < MAX_MATCHED_TERMS ? 1 << at : 0, weights);
  }
  return {
    bestScored: (top) => bestScored(weights, top, accepts),
    get meanScore() {
      const sum = touched.reduce((total, block) => total + scores[block]!, 0);
      return corpus.size === 0 ? 0 : sum / corpus.size;
    },
  };
}

/** Running sums of the scores, by block number. */
interface Sums {
  readonly averageLength: number;
  readonly scores: Float64Array;
  readonly matched: Uint32Array;
  readonly touched: number[];
}

/**
 * Returns Lucene's inverse document frequency for `frequency` of `size` blocks; always above zero.
 */
export function inverseFrequency(size: number, frequency: number): number {
  const population = Math.max(size, MIN_POPULATION);
  return Math.log(1 + (population - frequency + 0.5) / (frequency + 0.5));
}

/**
 * Returns the factor for scores that makes a minimum score mean the same in a small index: the
 * rarest word always weighs as much as in an index of `REFERENCE_SIZE`.
 */
function sizeFactor(size: number): number {
  return inverseFrequency(Math.max(size, REFERENCE_SIZE), 1) / inverseFrequency(size, 1);
}

/** Counts the live blocks in the postings. */
export function liveCount(
  { allLive, lengths }: Pick<Corpus, 'allLive' | 'lengths'>,
  postings: ArrayLike<Posting>,
): number {
  if (allLive) return postings.length;
  let live = 0;
  for (let index = 0; index < postings.length; index++) {
    if ((lengths[postings[index]! >>> 8] ?? 0) > 0) live++;
  }
  return live;
}

function addTerm(
  corpus: Corpus,
  postings: ArrayLike<Posting>,
  bit: number,
  { averageLength, scores, matched, touched }: Sums,
): void {
  const { lengths, size } = corpus;
  const rarity = inverseFrequency(size, liveCount(corpus, postings)) * sizeFactor(size);
  const weight = rarity * (K1 + 1);
  const flat = K1 * (1 - B);
  const slope = (K1 * B) / averageLength;
  for (let index = 0; index < postings.length; index++) {
    const posting = postings[index]!;
    const block = posting >>> 8;
    const length = lengths[block];
    if (length === undefined || length === 0) continue;
    const count = posting & 255;
    if (scores[block] === 0) touched.push(block);
    matched[block]! |= bit;
    scores[block]! += (weight * count) / (count + flat + slope * length);
  }
}

function bestScored(
  { scores, matched, touched: blocks }: Sums,
  top: number,
  accepts: (block: number) => boolean,
): Scored[] {
  if (top <= 0) return [];
  const threshold = nthLargest(scores, blocks, top, accepts);
  return blocks
    .filter((block) => scores[block]! >= threshold && accepts(block))
    .map((block) => ({ block, score: scores[block]!, matched: matched[block]! }))
    .toSorted((a, b) => b.score - a.score);
}

/**
 * Returns the `n`-th largest score by a min-heap of `n`; below all of them if there are fewer.
 * `accepts` is slow, so called last.
 */
function nthLargest(
  scores: Float64Array,
  blocks: readonly number[],
  n: number,
  accepts: (block: number) => boolean,
): number {
  const heap = new Float64Array(n).fill(-1);
  for (const block of blocks) {
    const score = scores[block]!;
    if (score > heap[0]! && accepts(block)) replaceSmallest(heap, score);
  }
  return heap[0]!;
}

/** Replaces the heap's smallest value by `value`. */
function replaceSmallest(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = value;
}
