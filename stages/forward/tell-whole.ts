/**
 * Writes a whole answer as the equivalent short stream of its own dialect. Nothing
 * is left out on the way, unlike in a translation: signatures, citations, encrypted reasoning
 * and members that nobody here knows arrive as the provider sent them.
 */
import { SvcError } from '../../engine/index.ts';
import { isObject, listOf, textOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { AnswerWishes, TranslatableDialect } from '../dialect/translate.ts';
import { encodeEvent } from '../wire/events.ts';

/** The stream's bytes. A chat stream reports its usage. Throws `bad_gateway` for what is no answer of `dialect`. */
export function tellWhole(
  dialect: TranslatableDialect,
  document: unknown,
  { framing }: Pick<AnswerWishes, 'framing'>,
): Buffer {
  if (!isObject(document)) throw noAnswer('The provider answered with something else');
  if (isObject(document['error'])) {
    const { message } = document['error'];
    throw noAnswer(textOf(message) ?? 'The provider answered with an error');
  }
  if (dialect === 'generative') {
    const text = JSON.stringify(document);
    return framing === 'array' ? Buffer.from(`[${text}]`) : encodeEvent(undefined, text);
  }
  return Buffer.concat(TELLERS[dialect](document));
}

const TELLERS = { messages: tellMessage, chat: tellCompletion, responses: tellResponse } as const;

function noAnswer(message: string): SvcError {
  return new SvcError('bad_gateway', message);
}

function named(payload: JsonObject & { readonly type: string }): Buffer {
  return encodeEvent(payload.type, JSON.stringify(payload));
}

function tellMessage(message: JsonObject): Buffer[] {
  const { content, stop_reason, stop_sequence, usage } = message;
  if (!Array.isArray(content)) throw noAnswer('The provider sent no message');
  const empty = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return [
    named({ type: 'message_start', message: empty }),
    ...content.filter(isObject).flatMap(tellBlock),
    named({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }),
    named({ type: 'message_stop' }),
  ];
}

/** Members that a stream says in deltas, and how. */
const DELTAS = [
  ['thinking', 'thinking_delta', 'thinking'],
  ['signature', 'signature_delta', 'signature'],
  ['text', 'text_delta', 'text'],
] as const;

function tellBlock(block: JsonObject, index: number): Buffer[] {
  const start: Record<string, unknown> = { ...block };
  const deltas: JsonObject[] = [];
  for (const [name, type, member] of DELTAS) {
    const said = textOf(block[name]);
    if (said === undefined || !/^(?:text|thinking)$/.test(String(block['type']))) continue;
    start[name] = '';
    if (said !== '') deltas.push({ type, [member]: said });
  }
  if (Array.isArray(block['citations'])) {
    start['citations'] = [];
    deltas.push(...block['citations'].map((citation) => ({ type: 'citations_delta', citation })));
  }
  if (isObject(block['input'])) {
    start['input'] = {};
    deltas.push({ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) });
  }
  return [
    named({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
    named({ type: 'content_block_stop', index }),
  ];
}

function tellCompletion({ choices, usage, ...rest }: JsonObject): Buffer[] {
  if (!Array.isArray(choices)) throw noAnswer('The provider sent no completion');
  const chunk = (more: JsonObject): Buffer =>
    encodeEvent(
      undefined,
      JSON.stringify({ ...rest, object: 'chat.completion.chunk', usage: null, ...more }),
    );
  const said = choices.filter(isObject).flatMap(({ message, ...choice }) => {
    const end = { ...choice, delta: {} };
    const begin = { ...choice, delta: deltaOf(message), finish_reason: null };
    return [chunk({ choices: [begin] }), chunk({ choices: [end] })];
  });
  const counted = isObject(usage) ? [chunk({ choices: [], usage })] : [];
  return [...said, ...counted, encodeEvent(undefined, '[DONE]')];
}

/** A message as one delta: its tool calls are numbered. */
function deltaOf(message: unknown): JsonObject {
  if (!isObject(message)) return {};
  const calls = listOf(message['tool_calls']).filter(isObject);
  if (calls.length === 0) return message;
  return { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
}

const ENDINGS = ['completed', 'incomplete', 'failed'];

function tellResponse(response: JsonObject): Buffer[] {
  const { output, status } = response;
  if (!Array.isArray(output)) throw noAnswer('The provider sent no response');
  let sequence_number = 0;
  const event = (type: string, more: JsonObject): Buffer =>
    named({ type, sequence_number: sequence_number++, ...more });
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const ending = ENDINGS.find((each) => each === status) ?? 'completed';
  return [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    ...output.filter(isObject).flatMap((item, at) => tellItem(item, at, event)),
    event(`response.${ending}`, { response }),
  ];
}

type ToEvent = (type: string, more: JsonObject) => Buffer;

function tellItem(item: JsonObject, output_index: number, event: ToEvent): Buffer[] {
  const at = { output_index, item_id: item['id'] };
  const parts = listOf(item['content']).filter(isObject);
  const isMessage = item['type'] === 'message';
  const open: Record<string, unknown> = { ...item, status: 'in_progress' };
  if (isMessage) open['content'] = [];
  const said: Buffer[] = [];
  if (isMessage) said.push(...parts.flatMap((part, index) => tellPart(part, index, at, event)));
  const call = textOf(item['arguments']);
  if (call !== undefined) {
    open['arguments'] = '';
    said.push(
      event('response.function_call_arguments.delta', { ...at, delta: call }),
      event('response.function_call_arguments.done', { ...at, arguments: call }),
    );
  }
  return [
    event('response.output_item.added', { output_index, item: open }),
    ...said,
    event('response.output_item.done', { output_index, item }),
  ];
}

function tellPart(
  part: JsonObject,
  content_index: number,
  item: JsonObject,
  event: ToEvent,
): Buffer[] {
  const at = { ...item, content_index };
  const text = textOf(part['text']);
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
