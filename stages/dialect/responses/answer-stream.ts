/**
 * A whole response as the equivalent short stream, including unknown members and encrypted
 * reasoning.
 */
import type { JsonObject, WireEvent } from '../canonical.ts';
import { listOf, objectsOf, stringOf } from '../json-kind.ts';
import { typedEvent } from '../translate/stream-write.ts';
import { unreadableAnswer } from '../translate/errors.ts';

const ENDINGS = ['completed', 'incomplete', 'failed'];

/**
 * Returns every item as it is added, filled and done, between the response as it begins and as it
 * ends.
 */
export function responsesStreamOf(response: JsonObject): WireEvent[] {
  const { output, status } = response;
  if (!Array.isArray(output)) throw unreadableAnswer('The provider sent no response');
  let sequence_number = 0;
  const event = (type: string, more: JsonObject): WireEvent =>
    typedEvent({ type, sequence_number: sequence_number++, ...more });
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  const ending = ENDINGS.find((each) => each === status) ?? 'completed';
  return [
    event('response.created', { response: started }),
    event('response.in_progress', { response: started }),
    ...objectsOf(output).flatMap((item, at) => itemStream(item, at, event)),
    event(`response.${ending}`, { response }),
  ];
}

type ToEvent = (type: string, more: JsonObject) => WireEvent;

function itemStream(item: JsonObject, output_index: number, event: ToEvent): WireEvent[] {
  const at = { output_index, item_id: item['id'] };
  const parts = objectsOf(item['content']);
  const isMessage = item['type'] === 'message';
  const open: Record<string, unknown> = { ...item, status: 'in_progress' };
  if (isMessage) open['content'] = [];
  const deltas: WireEvent[] = [];
  if (isMessage) deltas.push(...parts.flatMap((part, index) => partStream(part, index, at, event)));
  const call = stringOf(item['arguments']);
  if (call !== undefined) {
    open['arguments'] = '';
    deltas.push(
      event('response.function_call_arguments.delta', { ...at, delta: call }),
      event('response.function_call_arguments.done', { ...at, arguments: call }),
    );
  }
  return [
    event('response.output_item.added', { output_index, item: open }),
    ...deltas,
    event('response.output_item.done', { output_index, item }),
  ];
}

function partStream(
  part: JsonObject,
  content_index: number,
  item: JsonObject,
  event: ToEvent,
): WireEvent[] {
  const at = { ...item, content_index };
  const text = stringOf(part['text']);
  if (text === undefined) {
    return [
      event('response.content_part.added', { ...at, part }),
      event('response.content_part.done', { ...at, part }),
    ];
  }
  const logprobs = listOf(part['logprobs']);
  return [
    event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
    event('response.output_text.delta', { ...at, delta: text, logprobs }),
    event('response.output_text.done', { ...at, text, logprobs }),
    event('response.content_part.done', { ...at, part }),
  ];
}
