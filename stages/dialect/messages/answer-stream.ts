/**
 * A whole message as the equivalent short stream. Nothing is left out, unlike in a translation:
 * signatures, citations and unknown members stay.
 */
import type { JsonObject, WireEvent } from '../canonical.ts';
import { unreadableAnswer } from '../translate/errors.ts';
import { exactJson } from '../exact-json.ts';
import { isObject, stringOf } from '../json-kind.ts';
import { typedEvent } from '../translate/stream-write.ts';

/** Returns every block as its start, its deltas and its stop. */
export function messagesStreamOf(message: JsonObject): WireEvent[] {
  const { content, stop_reason, stop_sequence, usage } = message;
  if (!Array.isArray(content)) throw unreadableAnswer('The provider sent no message');
  const empty = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return [
    typedEvent({ type: 'message_start', message: empty }),
    ...content.filter(isObject).flatMap(blockStream),
    typedEvent({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }),
    typedEvent({ type: 'message_stop' }),
  ];
}

/** Members that a stream sends in deltas, and how. */
const DELTAS = [
  ['thinking', 'thinking_delta', 'thinking'],
  ['signature', 'signature_delta', 'signature'],
  ['text', 'text_delta', 'text'],
] as const;

function blockStream(block: JsonObject, index: number): WireEvent[] {
  const start: Record<string, unknown> = { ...block };
  const deltas: JsonObject[] = [];
  for (const [name, type, member] of DELTAS) {
    const piece = stringOf(block[name]);
    if (piece === undefined || !/^(?:text|thinking)$/.test(String(block['type']))) continue;
    start[name] = '';
    if (piece !== '') deltas.push({ type, [member]: piece });
  }
  if (Array.isArray(block['citations'])) {
    start['citations'] = [];
    deltas.push(...block['citations'].map((citation) => ({ type: 'citations_delta', citation })));
  }
  if (isObject(block['input'])) {
    start['input'] = {};
    deltas.push({ type: 'input_json_delta', partial_json: exactJson(block['input']) });
  }
  return [
    typedEvent({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => typedEvent({ type: 'content_block_delta', index, delta })),
    typedEvent({ type: 'content_block_stop', index }),
  ];
}
