/** Detects the dialect of a body without further information. */
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import { isObject, listOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';

/** Returns a body's dialect by members unique to it; undefined if unknown. */
export function bodyKind(json: JsonObject): TranslatableDialect | undefined {
  const { messages, input, contents } = json;
  if (listOf(contents).some((one) => isObject(one) && one['parts'] !== undefined))
    return 'generative';
  if (Array.isArray(messages)) return isChat(json, messages) ? 'chat' : 'messages';
  const isItems = typeof input === 'string' || Array.isArray(input);
  const isBody = ['model', 'instructions', 'tools'].some((name) => json[name] !== undefined);
  return isItems && isBody ? 'responses' : undefined;
}

function isChat(json: JsonObject, messages: readonly unknown[]): boolean {
  if (json['system'] !== undefined) return false;
  const roles = ['system', 'developer', 'tool', 'function'];
  const signs = messages.filter(isObject).map((message) => {
    if (message['tool_calls'] !== undefined || roles.includes(String(message['role']))) return 1;
    const parts = Array.isArray(message['content']) ? message['content'].filter(isObject) : [];
    const types = new Set(parts.map((part) => part['type']));
    if (types.has('tool_use') || types.has('tool_result') || types.has('thinking')) return -1;
    return types.has('image_url') ? 1 : 0;
  });
  const sign = signs.find((each) => each !== 0);
  if (sign !== undefined) return sign === 1;
  const { model } = json;
  return json['max_tokens'] === undefined && !(typeof model === 'string' && /claude/i.test(model));
}
