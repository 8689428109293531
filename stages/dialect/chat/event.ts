/** Events of chat-completions streams. */
import type { SvcError } from '../../../engine/index.ts';
import { encodeEvent } from '../../wire/events.ts';
import { objectOf, objectsOf, parseJson } from '../json-kind.ts';

/** Fields of a delta that only announce the role. */
const ANNOUNCING = new Set(['role', 'content']);

/**
 * Returns true if a choice has text, a tool call, reasoning or a finish reason: not for role-only,
 * empty and usage chunks.
 */
export function isChatContent(_event: string | undefined, data: string): boolean {
  return objectsOf(objectOf(parseJson(data))['choices']).some((choice) => {
    if (hasText(choice['finish_reason']) || hasText(choice['text'])) return true;
    const delta = objectOf(choice['delta']);
    return (
      hasText(delta['content']) ||
      Object.entries(delta).some(([name, value]) => !ANNOUNCING.has(name) && hasText(value))
    );
  });
}

function hasText(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  return !Array.isArray(value) || value.length > 0;
}

/** `[DONE]` ends a stream; the usage chunk comes between the finish reason and it. */
export function isChatTerminator(_event: string | undefined, data: string): boolean {
  return data.startsWith('[DONE]');
}

export function chatErrorEvent(error: SvcError, requestId: string): Buffer {
  const body = {
    error: { message: error.message, type: error.kind, param: null, code: error.code ?? null },
    request_id: requestId,
  };
  return encodeEvent(undefined, JSON.stringify(body));
}
