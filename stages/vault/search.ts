/** A query against an index: terms, scores, order, and what the caller sees of each block. */
import { readSync } from 'node:fs';
import type { BlockInfo } from './block.ts';
import { compareInfo, type BlockIndex } from './block-index.ts';
import { sha256 } from './read-file.ts';
import { liveCount, rank, type Scored } from './score.ts';
import { cutSnippet, type Snippet } from './snippet.ts';
import type { Tokenizer } from './tokenize.ts';

/** More terms than this and the rarest are taken: the others hardly move a score. */
export const MAX_QUERY_TERMS = 32;
/** Of a very long text only the first distinct terms are looked at. */
const MAX_TERMS_WEIGHED = 256;

export interface SearchOptions {
  /** The most hits to return; 10 when absent. */
  readonly top?: number;
  /** Hits below this score are left out; any score above zero counts when absent. */
  readonly minScore?: number;
  /**
   * Also finds blocks whose risk class is not `safe`. For showing the user their own files
   * on their own machine, never for anything that is sent.
   */
  readonly includeUnsafe?: boolean;
}

/** A block that was found. */
export interface SearchHit extends BlockInfo {
  /** BM25, above zero; the same for every backend. */
  readonly score: number;
  readonly content: string;
  readonly snippet: Snippet;
}

/** The hits for `query`, best first; blocks with equal scores stand in the order of their paths. */
export function searchIndex(
  index: BlockIndex,
  fd: number | undefined,
  tokenizer: Tokenizer,
  query: string,
  { top = 10, minScore = 0, includeUnsafe = false }: SearchOptions = {},
): SearchHit[] {
  if (fd === undefined || top <= 0) return [];
  const terms = queryTerms(index, tokenizer, query);
  const accepts = includeUnsafe ? undefined : (block: number) => index.isSafe(block);
  const wanted = new Set(terms);
  return ordered(index, rank(index.corpus, terms, top, accepts))
    .slice(0, top)
    .filter(({ score }) => score >= minScore)
    .map(({ block, score, info }) => {
      const content = readContent(index, fd, block, info.hash);
      const snippet = cutSnippet(content, tokenizer.locate(content, wanted), info.startLine);
      return { ...info, score, content, snippet };
    });
}

/** Thrown when the log does not hold what it held when it was read. */
export class DamagedContent extends Error {}

/** The text of a block, from the log; checked against its hash, so that damage is never sent. */
function readContent(index: BlockIndex, fd: number, block: number, hash: string): string {
  const { at, bytes } = index.place(block);
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

/** Distinct terms of the query that the index knows, the rarest if there are too many. */
function queryTerms(index: BlockIndex, tokenizer: Tokenizer, query: string): string[] {
  const distinct = [...new Set(tokenizer.terms(query))].slice(0, MAX_TERMS_WEIGHED);
  if (distinct.length <= MAX_QUERY_TERMS) return distinct;
  const { corpus } = index;
  return distinct
    .map((term) => ({ term, blocks: liveCount(corpus, corpus.postings(term)) }))
    .filter(({ blocks }) => blocks > 0)
    .toSorted((a, b) => a.blocks - b.blocks)
    .slice(0, MAX_QUERY_TERMS)
    .map(({ term }) => term);
}

function ordered(
  index: BlockIndex,
  scored: readonly Scored[],
): (Scored & { readonly info: BlockInfo })[] {
  return scored
    .map(({ block, score }) => ({ block, score, info: index.info(block) }))
    .toSorted((a, b) => b.score - a.score || compareInfo(a.info, b.info));
}
