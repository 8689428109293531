/**
 * A whole message as the equivalent short stream. Nothing is left out, unlike in a translation:
 * signatures, citations and unknown members stay.
 */
import type { JsonObject, WireEvent } from '../canonical.ts';
import { unreadableAnswer } from '../translate/errors.ts';
import { exactJson } from '../exact-json.ts';
import { isObject, stringOf } from '../json-kind.ts';
import { typedEvent } from '../translate/stream-write.ts';

/** Members that are only known at the end: null until then. */
const AT_THE_END = ['stop_reason', 'stop_sequence', 'stop_details'] as const;

/** Returns every block as its start, its deltas and its stop. */
export function messagesStreamOf(message: JsonObject): WireEvent[] {
  const { content, usage } = message;
  if (!Array.isArray(content)) throw unreadableAnswer('The provider sent no message');
  const ends = AT_THE_END.filter((name) => message[name] !== undefined);
  const unknown = Object.fromEntries(ends.map((name) => [name, null]));
  const empty = { ...message, ...unknown, content: [] };
  const delta = Object.fromEntries(ends.map((name) => [name, message[name]]));
  return [
    typedEvent({ type: 'message_start', message: empty }),
    ...content.filter(isObject).flatMap(blockStream),
    typedEvent({ type: 'message_delta', delta, usage }),
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
