/** A whole completion as the equivalent short stream, with all members, including unknown ones. */
import type { JsonObject, WireEvent } from '../canonical.ts';
import { unreadableAnswer } from '../translate/errors.ts';
import { exactJson } from '../exact-json.ts';
import { isObject, objectsOf } from '../json-kind.ts';

/** Returns every choice as one delta and its end, then the usage. */
export function chatStreamOf({ choices, usage, ...rest }: JsonObject): WireEvent[] {
  if (!Array.isArray(choices)) throw unreadableAnswer('The provider sent no completion');
  const chunk = (more: JsonObject): WireEvent => ({
    event: undefined,
    data: exactJson({ ...rest, object: 'chat.completion.chunk', usage: null, ...more }),
  });
  const deltas = choices.filter(isObject).flatMap(({ message, ...choice }) => {
    const end = { ...choice, delta: {} };
    const begin = { ...choice, delta: deltaOf(message), finish_reason: null };
    return [chunk({ choices: [begin] }), chunk({ choices: [end] })];
  });
  const counted = isObject(usage) ? [chunk({ choices: [], usage })] : [];
  return [...deltas, ...counted, { event: undefined, data: '[DONE]' }];
}

/** Returns a message as one delta, with its tool calls numbered. */
function deltaOf(message: unknown): JsonObject {
  if (!isObject(message)) return {};
  const calls = objectsOf(message['tool_calls']);
  if (calls.length === 0) return message;
  return { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
}
