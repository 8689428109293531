/**
 * BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with the
 * inverse document frequency that Lucene uses, computed here and not by a storage
 * engine, so that every backend gives the same score for the same blocks. With k1 = 1.2
 * and b = 0.75 a term that stands once in a block of average length adds exactly its
 * inverse document frequency, in a small index times `sizeFactor`.
 */

const K1 = 1.2;
const B = 0.75;

/**
 * A vault smaller than this is scored as if it had so many blocks. Among three blocks
 * every term is "frequent", no score reaches any useful minimum, and a new user's first
 * notes would never be found worth sending.
 */
const MIN_POPULATION = 10;
/** Scores in a smaller index are made as high as in one of so many blocks. */
const REFERENCE_SIZE = 10_000;

/** A block’s number and a term’s count in it, as `block * 256 + count`; block numbers stay below 2^24. */
export type Posting = number;

/** What scoring needs to know of an index; block numbers are the index's own, small and dense. */
export interface Corpus {
  /** Blocks that can be found. */
  readonly size: number;
  /** The sum of their lengths in terms. */
  readonly totalLength: number;
  /** Length in terms by block number; 0 for a number that is no longer in use. */
  readonly lengths: Int32Array;
  /** True while no list of postings holds a block that is out of use, which then need not be looked for. */
  readonly allLive: boolean;
  /** All blocks that hold `term`, postings of blocks out of use included. */
  postings(term: string): ArrayLike<Posting>;
}

/** As many as a number has bits. */
export const MAX_MATCHED_TERMS = 32;

/** A block number and its score, above zero. */
export interface Scored {
  readonly block: number;
  readonly score: number;
  /** Which of the terms the block holds: bit `n` for term `n`, of the first `MAX_MATCHED_TERMS`. */
  readonly matched: number;
}

/** What was ranked. */
export interface Ranking {
  /** The best `top`, best first. Ties with the last are all given, so that the caller can order them by something that is the same in every backend. */
  best(top: number): Scored[];
  /** What a block of the index scores on average, those that hold none of the terms included. */
  readonly meanScore: number;
}

/**
 * Scores every block that holds at least one of `terms`, once, however often the ranking is
 * then asked. `accepts` leaves blocks out before they take a place.
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
    best: (top) => best(weights, top, accepts),
    get meanScore() {
      const sum = touched.reduce((total, block) => total + scores[block]!, 0);
      return corpus.size === 0 ? 0 : sum / corpus.size;
    },
  };
}

/** Scores as they are summed up, by block number. */
interface Sums {
  readonly averageLength: number;
  readonly scores: Float64Array;
  readonly matched: Uint32Array;
  readonly touched: number[];
}

/** Lucene's inverse document frequency, for `frequency` of `size` blocks; always above zero. */
export function inverseFrequency(size: number, frequency: number): number {
  const population = Math.max(size, MIN_POPULATION);
  return Math.log(1 + (population - frequency + 0.5) / (frequency + 0.5));
}

/**
 * What scores are multiplied by, so that a least score means the same in a small index: the
 * rarest word weighs in any of them what it weighs in one of `REFERENCE_SIZE`.
 */
function sizeFactor(size: number): number {
  return inverseFrequency(Math.max(size, REFERENCE_SIZE), 1) / inverseFrequency(size, 1);
}

/** In how many blocks in use the postings stand. */
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

function best(
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

/** The `n`-th largest score by a min-heap of `n`, below all of them when there are fewer; `accepts` is asked last, being slow. */
function nthLargest(
  scores: Float64Array,
  blocks: readonly number[],
  n: number,
  accepts: (block: number) => boolean,
): number {
  const heap = new Float64Array(n).fill(-1);
  for (const block of blocks) {
    const score = scores[block]!;
    if (score > heap[0]! && accepts(block)) sink(heap, score);
  }
  return heap[0]!;
}

/** Replaces the heap's smallest value by `value`. */
function sink(heap: Float64Array, value: number): void {
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
