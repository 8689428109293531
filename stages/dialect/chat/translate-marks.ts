/**
 * What servers of the chat dialect want back with the tool calls of their models: the reasoning
 * that came before them (DeepSeek, Kimi and others answer 400 without it), the same as a list of blocks, and what stands beside
 * a single call (Gemini's signature in `extra_content`).
 */
import type { CanonicalBlock, JsonObject, ProviderMark } from '../canonical.ts';
import { exactJson } from '../exact-json.ts';
import { isObject, objectOf, parseJson } from '../json-kind.ts';

/** The members of a message that hold reasoning in clear; each server has its own. */
export const REASONING = ['reasoning_content', 'reasoning'] as const;

/**
 * What servers take for reasoning that is not known here, because another model made the call or
 * svc has started since. Kimi counts an empty text as none.
 */
const UNKNOWN_REASONING = { reasoning_content: ' ' };

/** `reasoning` are members of the message, `extra` the call's own member. */
export function toChatMark(reasoning: JsonObject, extra: unknown): ProviderMark {
  return { provider: 'chat', value: exactJson({ reasoning, extra_content: extra }) };
}

/** The members that a call has beside those that every call has. */
export function membersOfCall(call: CanonicalBlock): JsonObject {
  const { extra_content } = markOf(call);
  return extra_content === undefined ? {} : { extra_content };
}

/** Whether the server takes reasoning back, or refuses calls without it; undefined for what is not known. */
export type ReasoningWish = 'wanted' | 'refused' | undefined;

/** The members that a message with these calls gets. */
export function membersOfMessage(
  calls: readonly CanonicalBlock[],
  wish: ReasoningWish,
): JsonObject {
  if (wish === 'refused') return {};
  for (const call of calls) {
    const reasoning = objectOf(markOf(call).reasoning);
    if (Object.keys(reasoning).length > 0) return reasoning;
  }
  return wish === 'wanted' && calls.length > 0 ? UNKNOWN_REASONING : {};
}

function markOf(call: CanonicalBlock): JsonObject {
  if (call.kind !== 'toolUse' || call.mark?.provider !== 'chat') return {};
  const mark = parseJson(call.mark.value);
  return isObject(mark) ? mark : {};
}
