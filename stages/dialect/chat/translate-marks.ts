/**
 * What servers of the chat dialect require back with their models' tool calls: the preceding
 * reasoning (DeepSeek, Kimi and others answer 400 without it), the same as a list of blocks, and
 * extra members of a single call (Gemini's signature in `extra_content`).
 */
import type { CanonicalBlock, JsonObject, ProviderMark } from '../canonical.ts';
import { exactJson } from '../exact-json.ts';
import { isObject, objectOf, parseJson } from '../json-kind.ts';

/** The members of a message for readable reasoning; each server has its own. */
export const REASONING = ['reasoning_content', 'reasoning'] as const;

/**
 * What servers accept in place of reasoning that is unknown here, because another model made the
 * call or svc has restarted since. Kimi treats an empty text as missing.
 */
const UNKNOWN_REASONING = { reasoning_content: ' ' };

/** Makes a mark: `reasoning` are members of the message, `extra` is the call's own member. */
export function toChatMark(reasoning: JsonObject, extra: unknown): ProviderMark {
  return { provider: 'chat', value: exactJson({ reasoning, extra_content: extra }) };
}

/** Returns the additional members of a call, beyond those that every call has. */
export function membersOfCall(call: CanonicalBlock): JsonObject {
  const { extra_content } = markOf(call);
  return extra_content === undefined ? {} : { extra_content };
}

/** Whether the server requires reasoning with calls, or refuses it; undefined if unknown. */
export type ReasoningSupport = 'wanted' | 'refused' | undefined;

/** Returns the members to add to a message with these calls. */
export function membersOfMessage(
  calls: readonly CanonicalBlock[],
  support: ReasoningSupport,
): JsonObject {
  if (support === 'refused') return {};
  for (const call of calls) {
    const reasoning = objectOf(markOf(call).reasoning);
    if (Object.keys(reasoning).length > 0) return reasoning;
  }
  return support === 'wanted' && calls.length > 0 ? UNKNOWN_REASONING : {};
}

function markOf(call: CanonicalBlock): JsonObject {
  if (call.kind !== 'toolUse' || call.mark?.provider !== 'chat') return {};
  const mark = parseJson(call.mark.value);
  return isObject(mark) ? mark : {};
}
