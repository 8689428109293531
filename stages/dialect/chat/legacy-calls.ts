/**
 * Calls in the form that the chat dialect had before `tool_calls`: a message of the model has at
 * most one, in `function_call`, and its result is a message of role `function` without an id.
 */
import type { JsonObject } from '../canonical.ts';
import { isObject, stringOf } from '../json-kind.ts';

/**
 * Converts such calls and results to tool calls with ids that we make. A result without a call
 * stays as it is.
 */
export function withoutOldCalls(messages: readonly JsonObject[]): readonly JsonObject[] {
  let open: { readonly id: string; readonly name: string | undefined } | undefined;
  return messages.map((message, at) => {
    const { function_call: call, ...rest } = message;
    if (message.role === 'assistant' && isObject(call)) {
      open = { id: `call_old_${at}`, name: stringOf(call.name) };
      return { ...rest, tool_calls: [{ id: open.id, type: 'function', function: call }] };
    }
    if (message.role !== 'function' || open === undefined || message.name !== open.name)
      return message;
    const { id } = open;
    open = undefined;
    return { role: 'tool', tool_call_id: id, content: message.content };
  });
}
