/**
 * `/vault`, `/vault/search`, `/ingest` and `/ingest/batch`: reads the vault and adds to it at run
 * time.
 */
import { SvcError, toSvcError } from '../../engine/index.ts';
import { jsonTypeOf, parseBody } from '../../stages/dialect/json-kind.ts';
import { missingField, wrongType } from '../../stages/model/errors.ts';
import type { BlockInfo } from '../../stages/vault/block.ts';
import type { IngestBlock, IngestResult } from '../../stages/vault/ingest.ts';
import type { Vault } from '../../stages/vault/contract.ts';
import type { SearchHit } from '../../stages/vault/search/search.ts';
import { errorTable } from '../http/error-response.ts';
import type { ErrorRow } from '../http/error-response.ts';
import { invalidQuery, wholeOf } from '../http/query.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';

/** Blocks that one batch may hold. */
const MAX_BATCH = 1000;
/** Blocks that `GET /vault` lists by default, and at most. */
const DEFAULT_PAGE = 1000;
const MAX_PAGE = 10_000;
/** Hits of a search by default, and at most: each comes with its full text. */
const DEFAULT_HITS = 5;
const MAX_HITS = 20;
const MAX_QUERY_CHARS = 500;
/** Accepted names for the list in a batch. */
const LIST_NAMES = ['blocks', 'documents', 'events'];
/** Text processed in one step; other requests are served between steps. */
const STEP_CHARS = 256 * 1024;

export function vaultRoutes(vault: Vault): Route[] {
  return [
    getJson('/vault', (request) => describe(vault, new URL(request.url).searchParams)),
    getJson('/vault/search', (request) => search(vault, new URL(request.url).searchParams)),
    {
      method: 'POST',
      path: '/ingest',
      handle: async (request) => ingestOne(vault, await bodyOf(request)),
    },
    {
      method: 'POST',
      path: '/ingest/batch',
      handle: async (request) => ingestMany(vault, toItems(await bodyOf(request))),
    },
  ];
}

async function describe(vault: Vault, query: URLSearchParams) {
  const limit = wholeOf(query, 'limit', { fallback: DEFAULT_PAGE, min: 0, max: MAX_PAGE });
  const offset = wholeOf(query, 'offset', { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
  const { available, blocks, files, tokens, path, backend, roots } = await vault.status();
  const list = limit === 0 ? [] : await vault.list({ offset, limit });
  return {
    available,
    blocks,
    files,
    total_tokens: tokens,
    path,
    backend,
    roots,
    offset,
    limit,
    block_list: list.map(blockJson),
  };
}

function blockJson(block: BlockInfo) {
  return {
    block_id: block.id,
    source_path: block.sourcePath,
    risk_class: block.riskClass,
    raw_tokens: block.rawTokens,
    start_line: block.startLine,
    end_line: block.endLine,
  };
}

/** Search results usually go to a model, so only blocks that may be sent are searched. */
async function search(vault: Vault, query: URLSearchParams) {
  const words = query.get('query')?.trim() ?? '';
  if (words === '' || words.length > MAX_QUERY_CHARS)
    throw invalidQuery('query', `words, at most ${MAX_QUERY_CHARS} characters`);
  const top = wholeOf(query, 'top', { fallback: DEFAULT_HITS, min: 1, max: MAX_HITS });
  const hits = await vault.search(words, { top, distinct: true });
  return { hits: hits.map(hitJson) };
}

function hitJson({ content, score, ...block }: SearchHit) {
  return {
    block_id: block.id,
    source_path: block.sourcePath,
    start_line: block.startLine,
    end_line: block.endLine,
    score,
    content,
  };
}

async function bodyOf(request: Request): Promise<unknown> {
  const text = await request.text();
  if (text.trim() === '') throw missingField('content');
  return parseBody(text);
}

async function ingestOne(vault: Vault, body: unknown): Promise<Response> {
  const { toIngestBlock } = await loadReader();
  const [result] = await addTo(vault, [toIngestBlock(body)]);
  if (result === undefined) throw new SvcError('internal', 'The vault gave no result');
  if (!result.ok) throw result.error;
  const { id, tokens, stored } = result;
  return Response.json({ status: 'ok', ids: [id], block_id: id, tokens, stored });
}

/** The block reader comes with the indexer, which a proxy without a vault need not load. */
function loadReader() {
  return import('../../stages/vault/ingest.ts');
}

/** The items of a batch: a bare list, or one under any of the known names. */
function toItems(body: unknown): readonly unknown[] {
  const list = Array.isArray(body) ? body : listIn(body);
  if (list.length >= 1 && list.length <= MAX_BATCH) return list;
  throw new SvcError(
    'unprocessable',
    `A batch holds 1 to ${MAX_BATCH} blocks, this one ${list.length}`,
  );
}

function listIn(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null)
    throw wrongType('blocks', 'array', jsonTypeOf(body));
  const found = Object.entries(body).find(([name]) => LIST_NAMES.includes(name));
  if (found === undefined) throw missingField('blocks');
  const [name, list]: [string, unknown] = found;
  if (!Array.isArray(list)) throw wrongType(name, 'array', jsonTypeOf(list));
  return list;
}

/** Keeps valid items when others fail. Throws the first item's error when all fail. */
async function ingestMany(vault: Vault, items: readonly unknown[]): Promise<Response> {
  const { toIngestBlock } = await loadReader();
  const read = items.map((item) => readItem(toIngestBlock, item));
  const stored = await addTo(
    vault,
    read.filter((item): item is IngestBlock => !(item instanceof SvcError)),
  );
  const outcomes = inOrder(read, stored);
  const results = outcomes.map((outcome, index) => resultJson(outcome, index));
  const errors = results.filter((result) => 'error' in result);
  const ids = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.id] : []));
  if (ids.length === 0) throw allFailed(outcomes);
  return Response.json({ status: 'ok', ingested: ids.length, ids, results, errors });
}

/** Returns one result per block, in order; when it resolves, all of them are on disk. */
async function addTo(vault: Vault, blocks: readonly IngestBlock[]): Promise<IngestResult[]> {
  const results: IngestResult[] = [];
  for (let from = 0; from < blocks.length;) {
    let to = from;
    for (let chars = 0; to < blocks.length && chars < STEP_CHARS; to++) {
      chars += blocks[to]!.content.length;
    }
    results.push(...(await vault.ingest(blocks.slice(from, to))));
    from = to;
  }
  return results;
}

function readItem(
  toIngestBlock: (item: unknown) => IngestBlock,
  item: unknown,
): IngestBlock | SvcError {
  try {
    return toIngestBlock(item);
  } catch (thrown) {
    return toSvcError(thrown);
  }
}

function inOrder(
  read: readonly (IngestBlock | SvcError)[],
  stored: readonly IngestResult[],
): IngestResult[] {
  let next = 0;
  return read.map((item) =>
    item instanceof SvcError ? { ok: false, error: item } : stored[next++]!,
  );
}

function resultJson(outcome: IngestResult, index: number) {
  if (outcome.ok) {
    const { id, tokens, stored } = outcome;
    return { index, status: 'ok' as const, block_id: id, tokens, stored };
  }
  const { kind, message, code } = outcome.error;
  const { type }: ErrorRow = errorTable[kind];
  const error = { type, message, ...(code === undefined ? {} : { code }) };
  return { index, status: 'error' as const, error };
}

function allFailed(outcomes: readonly IngestResult[]): SvcError {
  const first = outcomes.find((outcome) => !outcome.ok);
  const why = first === undefined ? '' : `; the first: ${first.error.message}`;
  const count = outcomes.length;
  return new SvcError('unprocessable', `None of the ${count} blocks could be added${why}`);
}
