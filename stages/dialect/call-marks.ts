/**
 * What providers want back with the tool calls that they made, and what no other dialect has a
 * place for: Gemini's thought signatures, the reasoning of chat models. It is kept by the call
 * while the client sends the conversation back and forth, in memory: after a restart the calls
 * go out without it.
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
  /** The number of its message among the client's, for clients that may send it back without its id. */
  readonly place?: number;
  /** False for a call that came without an id, and has one of our making. */
  readonly hasOwnId?: boolean;
}

/** The marks of one conversation. A mark is a text that only its dialect's own writer reads. */
export interface ConversationMarks {
  get(provider: TranslatableDialect, call: MarkedCall): string | undefined;
  put(provider: TranslatableDialect, call: MarkedCall, mark: string): void;
}

/** The marks of all conversations. */
export type CallMarks = ReturnType<typeof createCallMarks>;

/**
 * At most `maxEntries` keys and `maxChars` characters in all, two keys a mark, four of a call with a place; the
 * least recently used are forgotten first. A mark larger than the whole is not kept.
 */
export function createCallMarks(maxEntries = 16_384, maxChars = 32_000_000) {
  const marks = new LRUCache<string, string>({
    maxSize: maxChars,
    // The bound of entries, too, is one of size: room for as many, taken at once, costs each start 10 ms.
    sizeCalculation: (mark) => Math.max(Math.ceil(maxChars / maxEntries), mark.length),
  });
  return {
    /** Those of the conversation with this name: servers that number their calls use the same ids in each. */
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

/** The keys of a mark: the exact one, and one that is enough. */
type Keys = readonly [exact: string, loose: string];

/** By id and arguments, as some servers begin with the same ids in every turn; by the id alone for a client that rewrites arguments. */
function keysOf(
  conversation: string,
  provider: TranslatableDialect,
  { id, input }: MarkedCall,
): Keys {
  const byId = JSON.stringify([conversation, provider, id]);
  return [digest(byId, argumentsOf(input)), digest(byId, '')];
}

/** By name, arguments and place; without the place for a client that has left out turns before it. */
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
