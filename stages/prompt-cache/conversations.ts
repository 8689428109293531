/**
 * Decides for each request whether it continues a conversation that was sent before, and whether
 * that conversation comes back while a provider's prompt cache still holds it. From the second
 * request on this is stored durably, so that a restart changes nothing.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { conversationId, isBillingBlock } from '../model/conversation.ts';
import type { Original, ProxyRequest } from '../model/request.ts';
import { parseTails } from './tails.ts';
import type { Tail } from './tails.ts';

/** How long a provider keeps what a marker wrote, in milliseconds, from its last use on. */
export const LIFETIME_MS = 300_000;
/** Pauses that are looked back at. */
const GAPS = 6;
/** Runs of the same task may go on side by side with the same beginning. */
const TAILS = 8;
/** Conversations of one request that are remembered. */
const FIRST_REQUESTS = 10_000;

/** What a request is to its conversation. */
export interface Turn {
  /** Names the conversation; 96 bits as 16 characters. */
  readonly conversation: string;
  /** True from a conversation's second request on. */
  readonly goesOn: boolean;
  /** True where its pauses mostly outlast the cache, so that writing would cost more than reading saves. */
  readonly isSlow: boolean;
  /** Milliseconds since any request with the same beginning was sent, whichever run of it; null where none is known. */
  readonly pauseMs: number | null;
}

/** Where tails are kept durably, by key. */
export interface TailStore {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

export interface Conversations {
  /** Notes that the request is sent, at its first call, and says what it is; later calls say the same. */
  turnOf(request: ProxyRequest): Turn;
}

export function createConversations(store: TailStore, clock: { wallMs(): number }): Conversations {
  const known = new WeakMap<Original, Turn>();
  const firsts = new LRUCache<string, readonly Tail[]>({ max: FIRST_REQUESTS });
  const note = (request: ProxyRequest): Turn => {
    const conversation = conversationId(request);
    const key = `turns:${conversation}`;
    const kept = store.get(key);
    const tails = kept === undefined ? (firsts.get(key) ?? []) : parseTails(kept);
    const atMs = clock.wallMs();
    const { tail, others } = follow(request.original, tails, atMs);
    const now = [tail, ...others].slice(0, TAILS);
    if (kept === undefined && !tail.goesOn) firsts.set(key, now);
    else store.set(key, JSON.stringify(now));
    const pauseMs = tails.length === 0 ? null : atMs - Math.max(...tails.map((one) => one.atMs));
    return { conversation, goesOn: tail.goesOn, isSlow: isSlow(tail.gaps), pauseMs };
  };
  return {
    turnOf(request) {
      const { original } = request;
      let turn = known.get(original);
      if (turn === undefined) {
        turn = note(request);
        known.set(original, turn);
      }
      return turn;
    },
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
  tails: readonly Tail[],
  atMs: number,
): { readonly tail: Tail; readonly others: readonly Tail[] } {
  const { blocks, hashes } = hashesOf(original, new Set(tails.map((tail) => tail.blocks)));
  const hash = hashes.get(blocks)!;
  const before = tails
    .filter((tail) => tail.blocks <= blocks && hashes.get(tail.blocks) === tail.hash)
    .toSorted((a, b) => b.blocks - a.blocks)[0];
  if (before === undefined)
    return { tail: { blocks, hash, atMs, gaps: '', goesOn: false }, others: tails };
  const others = tails.filter((tail) => tail !== before);
  // The same request again: a client that tries once more must send what it sent.
  if (before.blocks === blocks) return { tail: { ...before, atMs }, others };
  const answered = original
    .blocks()
    .slice(before.blocks)
    .some(({ role }) => role === 'assistant');
  if (!answered) return { tail: { ...before, blocks, hash, atMs }, others };
  const gap = atMs - before.atMs > LIFETIME_MS ? 'l' : 's';
  const gaps = `${before.gaps}${gap}`.slice(-GAPS);
  const tail = { blocks, hash, atMs, gaps, goesOn: true };
  // Another run may start from the same first request.
  return { tail, others: before.goesOn ? others : tails };
}

/** The number of blocks, and the hashes of the first so many of them, tools included, for each of `wanted` and for all. */
function hashesOf(original: Original, wanted: ReadonlySet<number>) {
  const blocks = original.blocks();
  const hash = createHash('sha256').update(toolsOf(original.json));
  const hashes = new Map<number, string>();
  blocks.forEach((block, at) => {
    if (wanted.has(at)) hashes.set(at, digest(hash.copy()));
    if (!isBillingBlock(block))
      hash.update(`\0${block.role}\0${block.kind}\0${block.toolUseId ?? ''}\0`).update(block.text);
  });
  hashes.set(blocks.length, digest(hash));
  return { blocks: blocks.length, hashes };
}

function digest(hash: ReturnType<typeof createHash>): string {
  return hash.digest('base64url').slice(0, 16);
}

function toolsOf(json: unknown): string {
  const tools = typeof json === 'object' && json !== null && 'tools' in json ? json.tools : null;
  return JSON.stringify(tools) ?? '';
}
