/**
 * Decides for each request whether it continues a conversation that was sent before, and whether
 * that conversation comes back while a provider's prompt cache still holds it. From the second
 * request on this is stored durably, so that a restart changes nothing.
 */
import { LRUCache } from 'lru-cache';
import type { Turn } from '../model/conversation.ts';
import { CACHE_LIFETIMES_MS } from '../model/model-facts.ts';
import type { Original, ProxyRequest } from '../model/request.ts';
import type { BlockHashes } from './block-hashes.ts';
import type { Tail } from './tails.ts';

/** Pauses that are looked back at. */
const GAPS = 6;
/** Runs of the same task may go on side by side with the same beginning. */
const TAILS = 8;
/** Conversations of one request that are remembered. */
const FIRST_REQUESTS = 10_000;

/** Where tails are kept durably; none where nothing is kept. */
export interface TailStore {
  get(original: Original): readonly Tail[];
  set(original: Original, tails: readonly Tail[]): void;
}

export function createTurns(
  store: TailStore,
  hashesOf: (original: Original) => BlockHashes,
  clock: { wallMs(): number },
) {
  // Bounded by size: with `max`, room for all is taken at once.
  const firsts = new LRUCache<string, readonly Tail[]>({
    maxSize: FIRST_REQUESTS,
    sizeCalculation: () => 1,
  });
  const note = ({ original }: ProxyRequest): Turn => {
    const conversation = original.conversation();
    const kept = store.get(original);
    const tails = kept.length === 0 ? (firsts.get(conversation) ?? []) : kept;
    const atMs = clock.wallMs();
    const { tail, others } = follow(original, hashesOf(original), tails, atMs);
    const now = [tail, ...others].slice(0, TAILS);
    if (kept.length === 0 && !tail.goesOn) firsts.set(conversation, now);
    else store.set(original, now);
    let newestMs = -Infinity;
    for (const one of tails) newestMs = Math.max(newestMs, one.atMs);
    const pauseMs = tails.length === 0 ? null : atMs - newestMs;
    return { conversation, goesOn: tail.goesOn, isSlow: isSlow(tail.gaps), pauseMs };
  };
  return {
    /** Notes that the request is sent, at its first call, and says what it is; later calls say the same. */
    turnOf: (request: ProxyRequest): Turn => request.original.turn(() => note(request)),
  };
}

/** A conversation without pauses yet is none of the slow ones. */
function isSlow(gaps: string): boolean {
  const short = gaps.length - gaps.replaceAll('s', '').length;
  return short * 2 < gaps.length;
}

/** The tail that `original` leaves behind, and those of the same beginning that it has nothing to do with. */
function follow(
  original: Original,
  { upTo }: BlockHashes,
  tails: readonly Tail[],
  atMs: number,
): { readonly tail: Tail; readonly others: readonly Tail[] } {
  const blocks = original.blocks().length;
  const hashes = upTo(tails.map((tail) => tail.blocks));
  const hash = hashes.get(blocks)!;
  let before: Tail | undefined;
  for (const tail of tails) {
    const isLonger = tail.blocks > (before?.blocks ?? -1);
    if (isLonger && hashes.get(tail.blocks) === tail.hash) before = tail;
  }
  if (before === undefined)
    return { tail: { blocks, hash, atMs, gaps: '', goesOn: false }, others: tails };
  const others = tails.filter((tail) => tail !== before);
  // The same request again: a client that tries once more must send what it sent.
  if (before.blocks === blocks) return { tail: sentAgain(before, blocks, hash, atMs), others };
  const answered = original
    .blocks()
    .slice(before.blocks)
    .some(({ role }) => role === 'assistant');
  if (!answered) return { tail: sentAgain(before, blocks, hash, atMs), others };
  const gap = atMs - before.atMs > CACHE_LIFETIMES_MS['5m'] ? 'l' : 's';
  const gaps = `${before.gaps}${gap}`.slice(-GAPS);
  const tail = { blocks, hash, atMs, gaps, goesOn: true };
  // Another run may start from the same first request.
  return { tail, others: before.goesOn ? others : tails };
}

/** Written out: to spread another object took a third of a microsecond. */
function sentAgain({ gaps, goesOn }: Tail, blocks: number, hash: string, atMs: number): Tail {
  return { blocks, hash, atMs, gaps, goesOn };
}
