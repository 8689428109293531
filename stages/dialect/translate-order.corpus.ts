/** The order of events that each dialect's clients rely on, checked on the bytes that go out. */
import type { TranslatableDialect } from './canonical.ts';
import { eventsOf } from './translate-expect.corpus.ts';
import { objectOf, objectsOf, parseJson } from './translate-json.ts';

/** Faults in a stream that is meant to end well. */
export function streamFaults(dialect: TranslatableDialect, pieces: readonly Buffer[]): string[] {
  switch (dialect) {
    case 'messages':
      return messagesStreamFaults(pieces);
    case 'chat':
      return chatStreamFaults(pieces);
    case 'responses':
      return responsesStreamFaults(pieces);
    default:
      return generativeStreamFaults(pieces);
  }
}

function chatStreamFaults(pieces: readonly Buffer[]): string[] {
  const faults: string[] = [];
  const all = eventsOf(Buffer.concat(pieces).toString()).map(({ data }) => data);
  if (all.pop() !== '[DONE]') faults.push('no [DONE] at the end');
  const chunks = all.map((data) => objectOf(parseJson(data)));
  const choices = chunks.flatMap((chunk) => objectsOf(chunk.choices));
  if (objectOf(choices[0]?.delta).role !== 'assistant') faults.push('no role at the start');
  if (choices.slice(1).some((choice) => 'role' in objectOf(choice.delta))) faults.push('two roles');
  const finished = choices.filter((choice) => choice.finish_reason !== null);
  if (finished.length !== 1 || finished[0] !== choices.at(-1)) faults.push('finish reason');
  const usages = chunks.filter((chunk) => chunk.usage !== undefined);
  if (usages.some((chunk) => objectsOf(chunk.choices).length > 0)) faults.push('usage in a choice');
  const calls = choices.flatMap((choice) => objectsOf(objectOf(choice.delta).tool_calls));
  const begun = calls.filter((call) => call.id !== undefined);
  if (begun.some((call, at) => call.index !== at)) faults.push('tool index');
  if (new Set(begun.map((call) => call.id)).size !== begun.length) faults.push('tool id twice');
  return faults;
}

function responsesStreamFaults(pieces: readonly Buffer[]): string[] {
  const faults: string[] = [];
  const events = eventsOf(Buffer.concat(pieces).toString());
  const values = events.map(({ data }) => objectOf(parseJson(data)));
  if (values.some((value, at) => value.sequence_number !== at)) faults.push('sequence');
  if (values.some((value, at) => value.type !== events[at]?.event)) faults.push('event name');
  const ids = (type: string): unknown[] =>
    values.filter((value) => value.type === type).map(({ item }) => objectOf(item).id);
  const added = ids('response.output_item.added');
  const done = ids('response.output_item.done');
  if (added.join() !== done.join()) faults.push('items added and done');
  const last = values.at(-1);
  const output = objectsOf(objectOf(last?.response).output).map(({ id }) => id);
  if (output.join() !== done.join()) faults.push('items of the whole');
  if (!/^response\.(completed|incomplete)$/.test(String(last?.type))) faults.push('no end');
  return faults;
}

function generativeStreamFaults(pieces: readonly Buffer[]): string[] {
  const chunks = eventsOf(Buffer.concat(pieces).toString()).map(({ data }) => parseJson(data));
  const ends = chunks.map((chunk) => objectsOf(objectOf(chunk).candidates)[0]?.finishReason);
  const said = ends.filter((end) => end !== undefined);
  return said.length === 1 && ends.at(-1) !== undefined ? [] : ['finish reason'];
}

/** Faults in a messages stream: order, double starts, empty blocks, empty deltas, missing ends. */
function messagesStreamFaults(pieces: readonly Buffer[]): string[] {
  const faults: string[] = [];
  const order: string[] = [];
  const seen = new Map<unknown, { kind: unknown; deltas: number }>();
  let open: unknown;
  for (const { event, data } of eventsOf(Buffer.concat(pieces).toString())) {
    const value = objectOf(parseJson(data));
    const type = String(value.type);
    if (event !== type) faults.push(`event ${event} holds ${type}`);
    if (type !== 'content_block_delta' && type !== 'ping') order.push(type);
    if (type === 'content_block_start') {
      if (open !== undefined) faults.push('a block starts in another');
      if (value.index !== seen.size) faults.push(`index ${String(value.index)} out of order`);
      open = value.index;
      seen.set(open, { kind: objectOf(value.content_block).type, deltas: 0 });
    }
    if (type === 'content_block_delta') {
      const delta = objectOf(value.delta);
      if (value.index !== open) faults.push('a delta outside its block');
      if ((delta.text ?? delta.partial_json) === '') faults.push('an empty delta');
      seen.get(open)!.deltas += 1;
    }
    if (type === 'content_block_stop') open = undefined;
  }
  if (open !== undefined) faults.push('a block without an end');
  for (const { kind, deltas } of seen.values()) {
    if (kind === 'text' && deltas === 0) faults.push('an empty text block');
  }
  const frame = order.filter((type) => !type.startsWith('content_block')).join(' ');
  if (frame !== 'message_start message_delta message_stop') faults.push(`framed as ${frame}`);
  return faults;
}
