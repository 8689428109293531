/**
 * Simulates a provider's prompt cache: an exact prefix that ends at a breakpoint is kept for five
 * minutes, each hit extends that by five, and a request finds at each of its breakpoints a prefix
 * kept there or up to twenty blocks before.
 */
import { createHash } from 'node:crypto';
import { factsOf } from '../model/model-facts.ts';

/** Prices relative to plain input, and limits, as Anthropic has them. */
const WRITE = 1.25;
/** Price of cached input, the highest first: most models, Opus and Sonnet 5.5, Fable 5.1. */
export const READ_PRICES: readonly number[] = [
  'claude-sonnet-4-5',
  'claude-opus-5-5',
  'claude-fable-5-1',
].map((model) => factsOf(model).readPrice);
const TTL_MS = 5 * 60_000;
const MAX_BREAKPOINTS = 4;
const LOOKBACK_BLOCKS = 20;
/** A shorter prefix is silently not cached. */
const MINIMUM_TOKENS = 1024;

/** One request: its blocks in order, and its markers. */
export interface CachedRequest {
  readonly blocks: readonly { readonly text: string; readonly tokens: number }[];
  /** Ascending indexes of the blocks with a marker; at most four. */
  readonly breakpoints: readonly number[];
  /** True for a provider that caches automatically: any number of breakpoints is allowed. */
  readonly isAutomatic?: boolean;
  /** A shorter prefix is not cached; 1,024 tokens by default. */
  readonly minTokens?: number;
  /** How long it is kept; five minutes by default. */
  readonly lifetimeMs?: number;
  /** Time of sending, in milliseconds. */
  readonly atMs: number;
}

/** Input tokens of a request by price. */
export interface CachedTokens {
  readonly read: number;
  readonly written: number;
  readonly plain: number;
}

export interface PromptCache {
  /**
   * Sends the request. Throws a RangeError for more than four breakpoints, which the provider
   * rejects.
   */
  send(request: CachedRequest): CachedTokens;
  /**
   * Sends it, and returns the cost of its input at the first of `READ_PRICES`, in tokens at the
   * base price.
   */
  cost(request: CachedRequest): number;
}

/** Creates an empty cache. */
export function createPromptCache(): PromptCache {
  const expiry = new Map<string, number>();
  const send: PromptCache['send'] = ({ blocks, breakpoints, atMs, ...more }) => {
    const { isAutomatic = false, minTokens = MINIMUM_TOKENS, lifetimeMs = TTL_MS } = more;
    if (!isAutomatic && breakpoints.length > MAX_BREAKPOINTS)
      throw new RangeError(`${breakpoints.length} breakpoints, ${MAX_BREAKPOINTS} at most`);
    const prefixes = prefixesOf(blocks);
    const hit = breakpoints
      .map((at) => longestHit(prefixes, at, (key) => (expiry.get(key) ?? 0) > atMs))
      .reduce((best, each) => Math.max(best, each), -1);
    const read = prefixes[hit]?.tokens ?? 0;
    if (hit >= 0) expiry.set(prefixes[hit]!.key, atMs + lifetimeMs);
    let written = read;
    for (const at of breakpoints) {
      const prefix = prefixes[at];
      if (prefix === undefined || prefix.tokens < minTokens) continue;
      expiry.set(prefix.key, atMs + lifetimeMs);
      written = Math.max(written, prefix.tokens);
    }
    const total = prefixes.at(-1)?.tokens ?? 0;
    return { read, written: written - read, plain: total - written };
  };
  return {
    send,
    cost(request) {
      return costAt(READ_PRICES[0]!, send(request));
    },
  };
}

/** Returns the cost of input at a read price, in tokens at the base price. */
export function costAt(readPrice: number, { read, written, plain }: CachedTokens): number {
  return read * readPrice + written * WRITE + plain;
}

/** Sums the tokens of several requests. */
export function totalTokens(requests: readonly CachedTokens[]): CachedTokens {
  const sum = (kind: keyof CachedTokens) =>
    requests.reduce((total, tokens) => total + tokens[kind], 0);
  return { read: sum('read'), written: sum('written'), plain: sum('plain') };
}

interface Prefix {
  readonly key: string;
  readonly tokens: number;
}

function prefixesOf(blocks: CachedRequest['blocks']): readonly Prefix[] {
  let key = '';
  let tokens = 0;
  return blocks.map((block) => {
    key = createHash('sha1').update(key).update('\0').update(block.text).digest('base64');
    tokens += block.tokens;
    return { key, tokens };
  });
}

/**
 * Returns the index of the last block of the longest prefix kept at or shortly before a breakpoint;
 * -1 for none.
 */
function longestHit(
  prefixes: readonly Prefix[],
  breakpoint: number,
  isKept: (key: string) => boolean,
): number {
  const first = Math.max(0, breakpoint - LOOKBACK_BLOCKS);
  for (let at = Math.min(breakpoint, prefixes.length - 1); at >= first; at -= 1)
    if (isKept(prefixes[at]!.key)) return at;
  return -1;
}
