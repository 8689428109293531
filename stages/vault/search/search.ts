/** A query against an index: terms, scores, order, and what the caller sees of each block. */
import { readSync } from 'node:fs';
import type { BlockInfo } from '../block.ts';
import { compareInfo, type BlockIndex } from '../backends/block-index.ts';
import { sha256 } from '../read/read-file.ts';
import { aboutQuestion } from './relevance.ts';
import { liveCount, rank, type Ranking, type Scored } from './score.ts';
import { spellerOf, withoutShortForms, type Speller } from '../words/spelling.ts';
import { cutSnippet, type Snippet } from './snippet.ts';
import type { Tokenizer } from '../words/tokenize.ts';

/** More terms than this and the rarest are taken: the others hardly move a score. */
const MAX_QUERY_TERMS = 32;
/** Of a very long text only the first distinct terms are looked at. */
const MAX_TERMS_WEIGHED = 256;
/** Where nobody says how many. */
const DEFAULT_TOP = 10;
/** So many times the blocks that are wanted are looked at where others take their places. */
const MORE = 4;
/** Where copies take the places, no more blocks than this are looked at. */
const MAX_LOOKED_AT = 512;

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
  /** Only blocks that are about the query, and not any that share some words with it. */
  readonly about?: boolean;
  /** Each text is found once, however many blocks have it. */
  readonly distinct?: boolean;
  /** Ids of blocks that are not wanted; with `distinct` their texts are not, either. */
  readonly except?: ReadonlySet<string>;
}

/** A block that was found. */
export interface SearchHit extends BlockInfo {
  /** BM25, above zero; the same for every backend. */
  readonly score: number;
  readonly content: string;
  readonly snippet: Snippet;
}

/** The hits for `text`, best first; blocks with equal scores stand in the order of their paths. */
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
  const found = chosen(index, ranking, { ...options, top: about ? top * MORE : top });
  const how = { corpus: index.corpus, tokenizer, spell };
  const hits = about ? aboutQuestion(how, query, terms, found, ranking.meanScore, top) : found;
  return hits.map(({ block, score, info }) => {
    const content = readContent(index, fd, block, info.hash);
    const snippet = cutSnippet(content, tokenizer.locate(content, wanted), info.startLine);
    return { ...info, score, content, snippet };
  });
}

/** A block that was ranked, with what the index says of it. */
interface Found extends Scored {
  readonly info: BlockInfo;
}

/** The blocks that are wanted, by what the index holds of them: no text is read for one that is not. */
function chosen(
  index: BlockIndex,
  ranking: Ranking,
  { top = DEFAULT_TOP, minScore = 0, distinct = false, except = new Set() }: SearchOptions,
): Found[] {
  if (top <= 0) return [];
  const infos = new Map<number, BlockInfo>();
  for (let least = top + except.size; ;) {
    const ranked = ordered(index, ranking.best(least), infos);
    const texts = new Set(distinct ? [...except].map((id) => index.held(id)?.hash) : []);
    const wanted = ranked.filter(({ score, info: { id, hash } }) => {
      if (score < minScore || except.has(id) || texts.has(hash)) return false;
      if (distinct) texts.add(hash);
      return true;
    });
    const isAll = (ranked[least - 1]?.score ?? -1) < minScore;
    // More than were asked for, where many score the same.
    const looked = Math.max(least, ranked.length);
    if (isAll || wanted.length >= top || looked >= MAX_LOOKED_AT) return wanted.slice(0, top);
    least = Math.min(looked * MORE, MAX_LOOKED_AT);
  }
}

/** Thrown when the log does not hold what it held when it was read. */
export class DamagedContent extends Error {}

/** The text of a block, from the log; checked against its hash, so that damage is never sent. */
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

/** Distinct terms of the query that the index knows, the rarest if there are too many. */
function queryTerms(
  index: BlockIndex,
  tokenizer: Tokenizer,
  query: string,
  spell: Speller,
): string[] {
  const { corpus } = index;
  const asked = [...new Set(tokenizer.terms(query))].slice(0, MAX_TERMS_WEIGHED);
  const distinct = [...new Set(asked.flatMap(spell))];
  if (distinct.length <= MAX_QUERY_TERMS) return distinct;
  return distinct
    .map((term) => ({ term, blocks: liveCount(corpus, corpus.postings(term)) }))
    .filter(({ blocks }) => blocks > 0)
    .toSorted((a, b) => a.blocks - b.blocks)
    .slice(0, MAX_QUERY_TERMS)
    .map(({ term }) => term);
}

/** Of equal scores in the order of their paths. `infos` keeps what was asked for once. */
function ordered(
  index: BlockIndex,
  scored: readonly Scored[],
  infos: Map<number, BlockInfo>,
): Found[] {
  const infoOf = (block: number): BlockInfo => {
    const info = infos.get(block) ?? index.info(block);
    infos.set(block, info);
    return info;
  };
  return scored
    .map((each) => ({ ...each, info: infoOf(each.block) }))
    .toSorted((a, b) => b.score - a.score || compareInfo(a.info, b.info));
}
