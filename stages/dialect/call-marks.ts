/**
 * What providers require back with the tool calls that they made, and what no other dialect has a
 * field for: Gemini's thought signatures, the reasoning of chat models. It is kept by call while
 * the client sends the conversation back and forth, in memory: after a restart the calls are sent
 * without it.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TranslatableDialect } from './canonical.ts';
import { exactJson, parseArguments } from './exact-json.ts';

/** A call as the client knows it. */
export interface MarkedCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text. */
  readonly input: string;
  /**
   * The index of its message among the client's, for clients that may send it back without its id.
   */
  readonly place?: number;
  /** False for a call that came without an id and has one that we made. */
  readonly hasOwnId?: boolean;
}

/** The marks of one conversation. Only the writer of a mark's own dialect reads its text. */
export interface ConversationMarks {
  get(provider: TranslatableDialect, call: MarkedCall): string | undefined;
  put(provider: TranslatableDialect, call: MarkedCall, mark: string): void;
}

/** The marks of all conversations. */
export type CallMarks = ReturnType<typeof createCallMarks>;

/**
 * Creates the store. It holds at most `maxEntries` keys and `maxChars` characters in all, two keys
 * per mark, four for a call with a place; the least recently used are evicted first. A mark larger
 * than the whole is not kept.
 */
export function createCallMarks(maxEntries = 16_384, maxChars = 32_000_000) {
  const marks = new LRUCache<string, string>({
    maxSize: maxChars,
    // The limit of entries is also expressed as a size: preallocating room for as many entries
    // costs 10 ms at each start.
    sizeCalculation: (mark) => Math.max(Math.ceil(maxChars / maxEntries), mark.length),
  });
  return {
    /**
     * Returns the marks of the conversation with this id: servers that number their calls use the
     * same ids in each.
     */
    of: (conversation: string): ConversationMarks => ({
      get(provider, call) {
        const keys = call.hasOwnId === false ? keysOfUnnamed : keysOf;
        const [exact, loose] = keys(conversation, provider, call);
        // Both are looked up, so that both count as used.
        const other = marks.get(loose);
        return marks.get(exact) ?? other;
      },
      put(provider, call, mark) {
        for (const key of keysOf(conversation, provider, call)) marks.set(key, mark);
        if (call.place === undefined) return;
        for (const key of keysOfUnnamed(conversation, provider, call)) marks.set(key, mark);
      },
    }),
  };
}

/** The keys of a mark: an exact one, and a looser one that is sufficient. */
type Keys = readonly [exact: string, loose: string];

/**
 * By id and arguments, since some servers use the same first ids in every turn; by id alone for a
 * client that rewrites arguments.
 */
function keysOf(
  conversation: string,
  provider: TranslatableDialect,
  { id, input }: MarkedCall,
): Keys {
  const byId = JSON.stringify([conversation, provider, id]);
  return [digest(byId, argumentsOf(input)), digest(byId, '')];
}

/** By name, arguments and place; without the place for a client that has dropped earlier turns. */
function keysOfUnnamed(
  conversation: string,
  provider: TranslatableDialect,
  { name, input, place }: MarkedCall,
): Keys {
  const byName = JSON.stringify([conversation, provider, 'unnamed', name]);
  const args = argumentsOf(input);
  return [digest(JSON.stringify([byName, place]), args), digest(byName, args)];
}

function argumentsOf(input: string): string {
  const args = parseArguments(input);
  return args === undefined ? input : exactJson(args);
}

function digest(byId: string, args: string): string {
  return createHash('sha256').update(byId).update(args).digest('base64');
}
