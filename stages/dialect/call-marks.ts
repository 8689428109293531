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
  /** The arguments as JSON text. */
  readonly input: string;
}

/** The marks of one conversation. A mark is a text that only its dialect's own writer reads. */
export interface ConversationMarks {
  get(provider: TranslatableDialect, call: MarkedCall): string | undefined;
  put(provider: TranslatableDialect, call: MarkedCall, mark: string): void;
}

/** The marks of all conversations. */
export type CallMarks = ReturnType<typeof createCallMarks>;

/**
 * At most `maxEntries` keys and `maxChars` characters in all, two keys a mark, the least recently used forgotten
 * first. A mark larger than the whole is not kept.
 */
export function createCallMarks(maxEntries = 16_384, maxChars = 32_000_000) {
  const marks = new LRUCache<string, string>({
    max: maxEntries,
    maxSize: maxChars,
    sizeCalculation: (mark) => Math.max(1, mark.length),
  });
  return {
    /** Those of the conversation with this name: servers that number their calls use the same ids in each. */
    of: (conversation: string): ConversationMarks => ({
      get(provider, call) {
        const [exact, byId] = keysOf(conversation, provider, call);
        // Both are looked up, so that both count as used.
        const anyOfId = marks.get(byId);
        return marks.get(exact) ?? anyOfId;
      },
      put(provider, call, mark) {
        for (const key of keysOf(conversation, provider, call)) marks.set(key, mark);
      },
    }),
  };
}

/** By id and arguments, as some servers begin with the same ids in every turn; by the id alone for a client that rewrites arguments. */
function keysOf(
  conversation: string,
  provider: TranslatableDialect,
  { id, input }: MarkedCall,
): readonly [exact: string, byId: string] {
  const args = parseArguments(input);
  const byId = JSON.stringify([conversation, provider, id]);
  return [digest(byId, args === undefined ? input : exactJson(args)), digest(byId, '')];
}

function digest(byId: string, args: string): string {
  return createHash('sha256').update(byId).update(args).digest('base64');
}
