/**
 * BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with the
 * inverse document frequency that Lucene uses, computed here and not by a storage
 * engine, so that every backend gives the same score for the same blocks. With k1 = 1.2
 * and b = 0.75 a term that stands once in a block of average length adds exactly its
 * inverse document frequency.
 */

const K1 = 1.2;
const B = 0.75;

/**
 * A vault smaller than this is scored as if it had so many blocks. Among three blocks
 * every term is "frequent", no score reaches any useful minimum, and a new user's first
 * notes would never be found worth sending.
 */
const MIN_POPULATION = 10;

/** A posting is a block's number and the term's count in it, as `block * 256 + count`. */
export type Posting = number;

/** What scoring needs to know of an index; block numbers are the index's own, small and dense. */
export interface Corpus {
  /** Blocks that can be found. */
  readonly size: number;
  /** The sum of their lengths in terms. */
  readonly totalLength: number;
  /** Length in terms by block number; 0 for a number that is no longer in use. */
  readonly lengths: Int32Array;
  /** All blocks that hold `term`, postings of blocks out of use included. */
  postings(term: string): ArrayLike<Posting>;
}

/** A block number and its score, above zero. */
export interface Scored {
  readonly block: number;
  readonly score: number;
}

/**
 * Every block that holds at least one of `terms` and scores within the best `top`, best
 * first. Ties with the last are all kept, so that the caller can order them by something
 * that is the same in every backend. `accepts` leaves blocks out before they take a place.
 */
export function rank(
  corpus: Corpus,
  terms: readonly string[],
  top: number,
  accepts: (block: number) => boolean = () => true,
): Scored[] {
  const scores = new Float64Array(corpus.lengths.length);
  const touched: number[] = [];
  const averageLength = corpus.size === 0 ? 1 : corpus.totalLength / corpus.size;
  for (const term of terms) addTerm(corpus, corpus.postings(term), averageLength, scores, touched);
  return best(scores, touched.filter(accepts), top);
}

/** Lucene's inverse document frequency, for `frequency` of `size` blocks; always above zero. */
export function inverseFrequency(size: number, frequency: number): number {
  const population = Math.max(size, MIN_POPULATION);
  return Math.log(1 + (population - frequency + 0.5) / (frequency + 0.5));
}

/** In how many blocks in use the postings stand. */
export function liveCount(postings: ArrayLike<Posting>, lengths: Int32Array): number {
  let live = 0;
  for (let index = 0; index < postings.length; index++) {
    if ((lengths[Math.floor(postings[index]! / 256)] ?? 0) > 0) live++;
  }
  return live;
}

function addTerm(
  corpus: Corpus,
  postings: ArrayLike<Posting>,
  averageLength: number,
  scores: Float64Array,
  touched: number[],
): void {
  const { lengths, size } = corpus;
  const weight = inverseFrequency(size, liveCount(postings, lengths)) * (K1 + 1);
  const flat = K1 * (1 - B);
  const slope = (K1 * B) / averageLength;
  for (let index = 0; index < postings.length; index++) {
    const posting = postings[index]!;
    const block = Math.floor(posting / 256);
    const length = lengths[block];
    if (length === undefined || length === 0) continue;
    const count = posting - block * 256;
    if (scores[block] === 0) touched.push(block);
    scores[block]! += (weight * count) / (count + flat + slope * length);
  }
}

function best(scores: Float64Array, blocks: number[], top: number): Scored[] {
  if (top <= 0) return [];
  const threshold = blocks.length > top ? nthLargest(scores, blocks, top) : 0;
  return blocks
    .filter((block) => scores[block]! >= threshold)
    .map((block) => ({ block, score: scores[block]! }))
    .toSorted((a, b) => b.score - a.score);
}

/** The `n`-th largest score, by a min-heap of `n`. */
function nthLargest(scores: Float64Array, blocks: readonly number[], n: number): number {
  const heap = new Float64Array(n).fill(-1);
  for (const block of blocks) {
    const score = scores[block]!;
    if (score <= heap[0]!) continue;
    sink(heap, score);
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
