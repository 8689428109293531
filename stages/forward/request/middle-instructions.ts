/**
 * Instructions in the middle of a conversation of the messages dialect, for a model that takes no
 * messages of role `system`. Which models take them is not known of every provider, so they go out
 * as they came, and only where they are refused as text of the user in the same place.
 */
import { isObject, listOf } from '../../dialect/json-kind.ts';
import { isForOneTurn, markedInstructions } from '../../dialect/marked-instructions.ts';
import { factsOf } from '../../model/model-facts.ts';
import { isRewritable, setValues } from '../../model/request.ts';
import type { NewValue, ProxyRequest } from '../../model/request.ts';

/**
 * The request for `model` with every message of role `system` as marked text of the user; undefined
 * where there is none, where one holds more than text, or where the request must go out as it is:
 * byte for byte, or because `isBound` thoughts of a model that signs what stands before them are in
 * it. Members of such messages that other roles do not have are left out.
 */
export function withMarkedInstructions(
  request: ProxyRequest,
  model: string | undefined,
  isBound: boolean,
): ProxyRequest | undefined {
  const { endpoint, json } = request.original;
  if (endpoint.dialect !== 'messages' || !isObject(json) || !isRewritable(request))
    return undefined;
  if (isBound && factsOf(model).thinking !== 'none') return undefined;
  const values: NewValue[] = [];
  const messages = listOf(json['messages']);
  const lastUser = messages.findLastIndex((one) => isObject(one) && one['role'] === 'user');
  for (const [at, message] of messages.entries()) {
    if (!isObject(message) || message['role'] !== 'system') continue;
    const isOver = at < lastUser && isForOneTurn(message);
    const content = markedContent(isOver ? OVER : (message['content'] ?? NONE));
    if (content === undefined) return undefined;
    values.push({ path: ['messages', at], json: JSON.stringify({ role: 'user', content }) });
  }
  return values.length === 0 ? undefined : setValues(request, values);
}

/** A message that is gone would move all behind it. */
const OVER = 'What stood here was for one turn, which is over.';
/** Some only set parameters of a turn, which no other role has. */
const NONE = 'No instructions.';

function markedContent(content: unknown): unknown {
  if (typeof content === 'string') return markedInstructions(content);
  if (!Array.isArray(content)) return undefined;
  const parts = content.map((part: unknown) =>
    isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
      ? { ...part, text: markedInstructions(part['text']) }
      : undefined,
  );
  return parts.includes(undefined) ? undefined : parts;
}
