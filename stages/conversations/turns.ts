/**
 * Decides for each request whether it continues a conversation sent before, and whether that
 * conversation usually returns while a provider's prompt cache still has it. From the second
 * request on this is stored durably, so that a restart changes nothing.
 */
import { LRUCache } from 'lru-cache';
import type { Turn } from '../model/conversation.ts';
import { CACHE_LIFETIMES_MS } from '../model/model-facts.ts';
import type { Original, ProxyRequest } from '../model/request.ts';
import type { BlockHashes } from './block-hashes.ts';
import type { Memory } from './memory.ts';
import type { Tail } from './tails.ts';

/** Maximum number of recent pauses considered. */
const MAX_GAPS = 6;
/** Maximum number of parallel runs with the same beginning. */
const MAX_TAILS = 8;
/** Maximum number of remembered conversations that have only one request so far. */
const MAX_FIRST_REQUESTS = 10_000;

export function createTurns(
  memoryOf: (request: { readonly original: Original }) => Memory,
  hashesOf: (original: Original) => BlockHashes,
  clock: { wallMs(): number },
) {
  // Limited by size, since `max` would allocate room for all entries at once.
  const firsts = new LRUCache<string, readonly Tail[]>({
    maxSize: MAX_FIRST_REQUESTS,
    sizeCalculation: () => 1,
  });
  const note = ({ original }: ProxyRequest): Turn => {
    const conversation = original.conversation();
    const memory = memoryOf({ original });
    const kept = memory.record.tails;
    const tails = kept.length === 0 ? (firsts.get(conversation) ?? []) : kept;
    const atMs = clock.wallMs();
    const { tail, others } = follow(original, hashesOf(original), tails, atMs);
    const now = [tail, ...others].slice(0, MAX_TAILS);
    if (kept.length === 0 && !tail.goesOn) firsts.set(conversation, now);
    else memory.set({ tails: now });
    let newestMs = -Infinity;
    for (const one of tails) newestMs = Math.max(newestMs, one.atMs);
    const pauseMs = tails.length === 0 ? null : atMs - newestMs;
    return { conversation, goesOn: tail.goesOn, isSlow: isSlow(tail.gaps), pauseMs };
  };
  return {
    /**
     * Records the request as sent on the first call and classifies it; later calls return the same.
     */
    turnOf: (request: ProxyRequest): Turn => request.original.turn(() => note(request)),
  };
}

/** Returns true if most recent pauses outlasted the cache; false without pauses. */
function isSlow(gaps: string): boolean {
  const short = gaps.length - gaps.replaceAll('s', '').length;
  return short * 2 < gaps.length;
}

/** Returns the new tail of `original`, and the tails of the same beginning that stay valid. */
function follow(
  original: Original,
  hashes: BlockHashes,
  tails: readonly Tail[],
  atMs: number,
): { readonly tail: Tail; readonly others: readonly Tail[] } {
  const blocks = original.blocks().length;
  const chain = hashes.upTo(blocks);
  let before: Tail | undefined;
  for (const tail of tails) {
    const isLonger = tail.blocks > (before?.blocks ?? -1) && tail.blocks <= blocks;
    if (isLonger && isBefore(tail, hashes)) before = tail;
  }
  if (before === undefined)
    return { tail: { blocks, chain, atMs, gaps: '', goesOn: false }, others: tails };
  const others = tails.filter((tail) => tail !== before);
  // The same request again: a retry must be sent like the first attempt.
  if (before.blocks === blocks) return { tail: tailSentAgain(before, blocks, chain, atMs), others };
  const answered = original
    .blocks()
    .slice(before.blocks)
    .some(({ role }) => role === 'assistant');
  if (!answered) return { tail: tailSentAgain(before, blocks, chain, atMs), others };
  const gap = atMs - before.atMs > CACHE_LIFETIMES_MS['5m'] ? 'l' : 's';
  const gaps = `${before.gaps}${gap}`.slice(-MAX_GAPS);
  const tail = { blocks, chain, atMs, gaps, goesOn: true };
  // Another run may still start from the same first request.
  return { tail, others: before.goesOn ? others : tails };
}

function isBefore({ blocks, chain, hash }: Tail, hashes: BlockHashes): boolean {
  return hash === undefined ? hashes.upTo(blocks) === chain : hashes.olderUpTo(blocks) === hash;
}

/**
 * Copies the fields one by one, since spreading the object took a third of a microsecond longer.
 */
function tailSentAgain({ gaps, goesOn }: Tail, blocks: number, chain: string, atMs: number): Tail {
  return { blocks, chain, atMs, gaps, goesOn };
}
