/**
 * Instructions within a conversation of the messages dialect, for a model that does not accept
 * messages of role `system`. Which models accept them is not known for every provider, so they are
 * sent unchanged first, and after a refusal as user text in the same place.
 */
import { isObject, listOf } from '../../dialect/json-kind.ts';
import { isForOneTurn, markedInstructions } from '../../dialect/marked-instructions.ts';
import { factsOf } from '../../model/model-facts.ts';
import { isRewritable, setValues } from '../../model/request.ts';
import type { NewValue, ProxyRequest } from '../../model/request.ts';

/**
 * Returns the request for `model` with every message of role `system` as marked user text;
 * undefined if there is none, if one contains more than text, or if the request must stay
 * unchanged: byte for byte, or because `isBound` thinking blocks of a model that signs the
 * preceding content are in it. Members that only such messages have are left out.
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

/** Removing the message would shift everything after it. */
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
