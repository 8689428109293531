/** Runs a query against an index: terms, scores, order, and the result for each block. */
import { readSync } from 'node:fs';
import type { BlockInfo } from '../block.ts';
import { compareInfo, type BlockIndex } from '../backends/block-index.ts';
import { sha256 } from '../read/read-file.ts';
import { aboutQuestion } from './relevance.ts';
import { liveCount, rank, type Ranking, type Scored } from './score.ts';
import { spellerOf, withoutShortForms, type Speller } from '../words/spelling.ts';
import { cutSnippet, type Snippet } from './snippet.ts';
import type { Tokenizer } from '../words/tokenize.ts';

/** With more terms only the rarest are used: the others hardly affect a score. */
const MAX_QUERY_TERMS = 32;
/** Of a very long text only this many distinct terms are considered. */
const MAX_TERMS_WEIGHED = 256;
/** Default number of hits. */
const DEFAULT_TOP = 10;
/** Factor for the number of candidates that are fetched, since some will not be returned. */
const CANDIDATE_FACTOR = 4;
/** Maximum number of candidates that are fetched if many are copies of others. */
const MAX_CANDIDATES = 512;

export interface SearchOptions {
  /** Maximum number of hits to return; 10 by default. */
  readonly top?: number;
  /** Minimum score; by default any score above zero. */
  readonly minScore?: number;
  /**
   * Includes blocks whose risk class is not `safe`. For showing users their own files on their own
   * machine, never for anything that is sent.
   */
  readonly includeUnsafe?: boolean;
  /** Returns only blocks about the query, not those that merely share words with it. */
  readonly about?: boolean;
  /** Returns each text once, however many blocks contain it. */
  readonly distinct?: boolean;
  /** Ids of blocks to exclude; with `distinct` their texts are excluded too. */
  readonly except?: ReadonlySet<string>;
}

/** A search hit. */
export interface SearchHit extends BlockInfo {
  /** BM25, above zero; the same for every backend. */
  readonly score: number;
  readonly content: string;
  readonly snippet: Snippet;
}

/** Returns the hits for `text`, best first; blocks with equal scores are ordered by path. */
export function searchIndex(
  index: BlockIndex,
  fd: number | undefined,
  tokenizer: Tokenizer,
  text: string,
  options: SearchOptions = {},
): SearchHit[] {
  if (fd === undefined) return [];
  const query = withoutShortForms(text);
  const spell = spellerOf(index.corpus);
  const terms = queryTerms(index, tokenizer, query, spell);
  const accepts =
    options.includeUnsafe === true ? undefined : (block: number) => index.isSafe(block);
  const wanted = new Set(terms);
  const ranking = rank(index.corpus, terms, accepts);
  const { about = false, top = DEFAULT_TOP } = options;
  const found = chooseHits(index, ranking, {
    ...options,
    top: about ? top * CANDIDATE_FACTOR : top,
  });
  const how = { corpus: index.corpus, tokenizer, spell };
  const hits = about ? aboutQuestion(how, query, terms, found, ranking.meanScore, top) : found;
  return hits.map(({ block, score, info }) => {
    const content = readContent(index, fd, block, info.hash);
    const snippet = cutSnippet(content, tokenizer.locate(content, wanted), info.startLine);
    return { ...info, score, content, snippet };
  });
}

/** A ranked block with its index entry. */
interface Candidate extends Scored {
  readonly info: BlockInfo;
}

/** Selects the blocks to return from index entries alone: no text is read for others. */
function chooseHits(
  index: BlockIndex,
  ranking: Ranking,
  { top = DEFAULT_TOP, minScore = 0, distinct = false, except = new Set() }: SearchOptions,
): Candidate[] {
  if (top <= 0) return [];
  const infos = new Map<number, BlockInfo>();
  for (let min = top + except.size; ;) {
    const ranked = orderByPath(index, ranking.bestScored(min), infos);
    const texts = new Set(distinct ? [...except].map((id) => index.findBlock(id)?.hash) : []);
    const wanted = ranked.filter(({ score, info: { id, hash } }) => {
      if (score < minScore || except.has(id) || texts.has(hash)) return false;
      if (distinct) texts.add(hash);
      return true;
    });
    const isAll = (ranked[min - 1]?.score ?? -1) < minScore;
    // May exceed the requested number where many have the same score.
    const looked = Math.max(min, ranked.length);
    if (isAll || wanted.length >= top || looked >= MAX_CANDIDATES) return wanted.slice(0, top);
    min = Math.min(looked * CANDIDATE_FACTOR, MAX_CANDIDATES);
  }
}

/** Thrown when the log's content differs from what was read earlier. */
export class DamagedContent extends Error {}

/** Reads a block's text from the log; checked against its hash, so that damage is never sent. */
function readContent(index: BlockIndex, fd: number, block: number, hash: string): string {
  const { at, bytes } = index.locate(block);
  const buffer = Buffer.alloc(bytes);
  const read = readSync(fd, buffer, 0, bytes, at);
  let content: unknown;
  try {
    content = JSON.parse(buffer.toString('utf8', 0, read));
  } catch (cause) {
    throw new DamagedContent('A block is no longer readable', { cause });
  }
  if (typeof content !== 'string' || sha256(content) !== hash) {
    throw new DamagedContent('A block is not what it was');
  }
  return content;
}

/** Returns the distinct query terms in the index, the rarest if there are too many. */
function queryTerms(
  index: BlockIndex,
  tokenizer: Tokenizer,
  query: string,
  spell: Speller,
): string[] {
  const { corpus } = index;
  const terms = [...new Set(tokenizer.terms(query))].slice(0, MAX_TERMS_WEIGHED);
  const distinct = [...new Set(terms.flatMap(spell))];
  if (distinct.length <= MAX_QUERY_TERMS) return distinct;
  return distinct
    .map((term) => ({ term, blocks: liveCount(corpus, corpus.postings(term)) }))
    .filter(({ blocks }) => blocks > 0)
    .toSorted((a, b) => a.blocks - b.blocks)
    .slice(0, MAX_QUERY_TERMS)
    .map(({ term }) => term);
}

/** Orders equal scores by path. `infos` caches index entries. */
function orderByPath(
  index: BlockIndex,
  scored: readonly Scored[],
  infos: Map<number, BlockInfo>,
): Candidate[] {
  const infoOf = (block: number): BlockInfo => {
    const info = infos.get(block) ?? index.info(block);
    infos.set(block, info);
    return info;
  };
  return scored
    .map((each) => ({ ...each, info: infoOf(each.block) }))
    .toSorted((a, b) => b.score - a.score || compareInfo(a.info, b.info));
}
