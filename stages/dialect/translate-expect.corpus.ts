/**
 * What a recorded answer says, read by the plainest code that can do it and without
 * the translation under test: the yardstick of the corpus check.
 */
import { createParser } from 'eventsource-parser';
import type { TranslatableDialect, WireEvent } from './canonical.ts';
import { objectOf, objectsOf, stringOf } from './translate-json.ts';

/** What an answer says in any dialect. Token counts that nobody measured are 0, as most clients see them. */
export interface Said {
  text: string;
  calls: { name: string; input: unknown }[];
  stop: string;
  input: number;
  output: number;
  cached: number;
}

export const nothingSaid = (): Said => ({
  text: '',
  calls: [],
  stop: 'end',
  input: 0,
  output: 0,
  cached: 0,
});

type Loose = { readonly [key: string]: unknown };

/** A scalar as text; anything else as nothing. */
const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);
const parse = (text: string): unknown => (text.trim() === '' ? {} : JSON.parse(text));

export function eventsOf(body: string): WireEvent[] {
  const events: WireEvent[] = [];
  const parser = createParser({
    onEvent: (event) => events.push({ event: event.event, data: event.data }),
  });
  parser.feed(body);
  parser.feed('\n\n');
  return events;
}

/** A recorded stream or document, by dialect. Throws where the provider itself reported an error. */
export function expectSaid(dialect: TranslatableDialect, body: string, streamed: boolean): Said {
  const values = streamed
    ? eventsOf(body).flatMap(({ data }) => (data.trim() === '[DONE]' ? [] : [JSON.parse(data)]))
    : [JSON.parse(body)].flat();
  const chunks = firstAnswer(objectsOf(values));
  const failed = chunks.find((chunk) => chunk.error || chunk.type === 'error');
  if (failed !== undefined) throw new Error('recorded error');
  switch (dialect) {
    case 'messages':
      return fromMessages(streamed ? joinMessages(chunks) : objectOf(chunks[0]));
    case 'chat':
      return fromChat(chunks);
    case 'generative':
      return fromGenerative(chunks);
    default:
      return fromResponses(streamed ? lastResponse(chunks) : objectOf(chunks[0]));
  }
}

/** Some recordings hold the streams of several requests: the first end is the end. */
function firstAnswer(chunks: readonly Loose[]): readonly Loose[] {
  const ends = new Set(['message_stop', 'response.completed', 'response.incomplete']);
  const end = chunks.findIndex((chunk) => ends.has(String(chunk.type)));
  const first = end < 0 ? chunks : chunks.slice(0, end + 1);
  if (first.filter((chunk) => chunk.type === 'message_start').length > 1) {
    throw new Error('two messages in one');
  }
  return first;
}

const MESSAGES_STOP: { readonly [stop: string]: string } = {
  end_turn: 'end',
  max_tokens: 'maxTokens',
  stop_sequence: 'stopSequence',
  tool_use: 'toolUse',
};

/** A message document, of a provider or of its SDK. */
export function fromMessages(message: Loose): Said {
  const usage = objectOf(message.usage);
  const said = nothingSaid();
  for (const block of objectsOf(message.content)) {
    if (block.type === 'text') said.text += stringOf(block.text) ?? '';
    if (block.type === 'tool_use') {
      said.calls.push({ name: String(block.name), input: block.input });
    }
  }
  const stop = String(message.stop_reason);
  said.stop = MESSAGES_STOP[stop] ?? stop;
  said.cached = num(usage.cache_read_input_tokens);
  said.input = num(usage.input_tokens) + said.cached + num(usage.cache_creation_input_tokens);
  said.output = num(usage.output_tokens);
  return said;
}

function joinMessages(events: readonly Loose[]): Loose {
  const blocks = new Map<unknown, { [key: string]: unknown }>();
  let usage: Loose = {};
  let stop: unknown;
  for (const event of events) {
    const delta = objectOf(event.delta);
    const block = blocks.get(event.index);
    if (event.type === 'message_start') usage = objectOf(objectOf(event.message).usage);
    if (event.type === 'content_block_start') {
      blocks.set(event.index, { ...objectOf(event.content_block), json: '' });
    }
    if (delta.type === 'text_delta' && block) block.text = `${word(block.text)}${word(delta.text)}`;
    if (delta.type === 'input_json_delta' && block)
      block.json = `${word(block.json)}${word(delta.partial_json)}`;
    if (event.type === 'message_delta') {
      stop = delta.stop_reason;
      usage = { ...usage, ...objectOf(event.usage) };
    }
  }
  if (!events.some((event) => event.type === 'message_stop')) throw new Error('cut off');
  const content = [...blocks.values()].map((block) =>
    block.json === '' ? block : { ...block, input: parse(String(block.json)) },
  );
  return { content, usage, stop_reason: stop };
}

const CHAT_STOP: { readonly [stop: string]: string } = {
  length: 'maxTokens',
  tool_calls: 'toolUse',
  function_call: 'toolUse',
  content_filter: 'refusal',
};

/** A chat completion, or the chunks of one. */
export function fromChat(chunks: readonly Loose[]): Said {
  const said = nothingSaid();
  const calls = new Map<string, { name: string; json: string }>();
  let any = false;
  let refusal = '';
  for (const chunk of chunks) {
    const choice = objectsOf(chunk.choices).find((each) => (each.index ?? 0) === 0) ?? {};
    any ||= Array.isArray(chunk.choices) && chunk.choices.length > 0;
    const delta = objectOf(choice.message ?? choice.delta);
    const { content } = delta;
    said.text += typeof content === 'string' ? content : '';
    for (const part of objectsOf(content)) if (part.type === 'text') said.text += String(part.text);
    said.text += stringOf(objectOf(delta.audio).transcript) ?? '';
    refusal += stringOf(delta.refusal) ?? '';
    const old = objectOf(delta.function_call);
    const made = [
      ...objectsOf(delta.tool_calls),
      ...(old.name ? [{ index: 'old', function: old }] : []),
    ];
    made.forEach((call, at) => {
      const key = word(call.index ?? at);
      const known = calls.get(key) ?? { name: '', json: '' };
      const called = objectOf(call.function);
      known.name ||= stringOf(called.name) ?? '';
      known.json += stringOf(called.arguments) ?? '';
      calls.set(key, known);
    });
    if (choice.finish_reason) said.stop = CHAT_STOP[word(choice.finish_reason)] ?? 'end';
    const usage = objectOf(chunk.usage ?? objectOf(chunk.x_groq).usage);
    if (typeof usage.prompt_tokens === 'number') addChatUsage(said, usage);
  }
  if (!any) throw new Error('no choice');
  said.text += refusal;
  said.calls = [...calls.values()].map(({ name, json }) => ({ name, input: parse(json) }));
  if (said.calls.length > 0 && said.stop === 'end') said.stop = 'toolUse';
  return said;
}

function addChatUsage(said: Said, usage: Loose): void {
  const reasoning = num(objectOf(usage.completion_tokens_details).reasoning_tokens);
  said.input = num(usage.prompt_tokens);
  said.output = num(usage.completion_tokens);
  if (reasoning > 0 && num(usage.total_tokens) === said.input + said.output + reasoning) {
    said.output += reasoning;
  }
  said.cached = num(
    objectOf(usage.prompt_tokens_details).cached_tokens ??
      usage.prompt_cache_hit_tokens ??
      usage.cached_tokens ??
      usage.num_cached_tokens,
  );
}

/** A generative answer, or the chunks of one. Calls in pieces are known by name only. */
export function fromGenerative(chunks: readonly Loose[]): Said {
  const said = nothingSaid();
  let finish = '';
  for (const chunk of chunks) {
    const candidate = objectsOf(chunk.candidates)[0] ?? {};
    for (const part of objectsOf(objectOf(candidate.content).parts)) {
      const call = objectOf(part.functionCall);
      if (call.name) {
        const growing = call.willContinue === true || call.partialArgs !== undefined;
        said.calls.push({
          name: word(call.name),
          input: growing ? undefined : (call.args ?? {}),
        });
      }
      if (typeof part.text === 'string' && part.thought !== true) said.text += part.text;
    }
    if (candidate.finishReason) finish = word(candidate.finishReason);
    if (objectOf(chunk.promptFeedback).blockReason) finish = 'SAFETY';
    const usage = objectOf(chunk.usageMetadata);
    if (typeof usage.promptTokenCount === 'number') addGenerativeUsage(said, usage);
  }
  if (finish === '') throw new Error('cut off');
  if (finish === 'MAX_TOKENS') said.stop = 'maxTokens';
  else if (finish !== 'STOP') said.stop = 'refusal';
  else if (said.calls.length > 0) said.stop = 'toolUse';
  return said;
}

function addGenerativeUsage(said: Said, usage: Loose): void {
  said.input = num(usage.promptTokenCount) + num(usage.toolUsePromptTokenCount);
  said.output = num(usage.candidatesTokenCount) + num(usage.thoughtsTokenCount);
  said.cached = num(usage.cachedContentTokenCount);
}

function lastResponse(events: readonly Loose[]): Loose {
  const last = events.find(
    ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  );
  if (last === undefined) throw new Error('cut off');
  // Some providers leave the items out of the last event; they stand in the events before.
  const items = events
    .filter(({ type }) => type === 'response.output_item.done')
    .map((event) => withDeltas(event, events));
  const response = objectOf(last.response);
  return items.length > 0 ? { ...response, output: items } : response;
}

/** What clients show are the deltas; a message repeated whole may be worded otherwise in a hand-made recording. */
function withDeltas(done: Loose, events: readonly Loose[]): unknown {
  const deltas = events.filter(
    ({ type, output_index }) =>
      type === 'response.output_text.delta' && output_index === done.output_index,
  );
  if (deltas.length === 0) return done.item;
  const text = deltas.map(({ delta }) => String(delta)).join('');
  return { ...objectOf(done.item), content: [{ type: 'output_text', text }] };
}

/** A response document, of a provider or of its SDK. */
export function fromResponses(response: Loose): Said {
  if (!Array.isArray(response.output)) throw new Error('no response');
  if (response.status === 'queued' || response.status === 'in_progress') throw new Error('open');
  const said = nothingSaid();
  for (const item of objectsOf(response.output)) {
    if (item.type === 'message') {
      for (const part of objectsOf(item.content)) {
        said.text += stringOf(part.text) ?? stringOf(part.refusal) ?? '';
      }
    }
    if (item.type === 'function_call') {
      said.calls.push({ name: String(item.name), input: parse(String(item.arguments)) });
    }
    if (item.type === 'custom_tool_call') {
      said.calls.push({ name: String(item.name), input: { input: item.input } });
    }
    // A search that the client runs is a call like any other; one of the provider's own is none.
    if (item.type === 'tool_search_call' && item.execution === 'client') {
      said.calls.push({ name: 'tool_search', input: item.arguments });
    }
  }
  if (said.calls.length > 0) said.stop = 'toolUse';
  if (response.status === 'incomplete') {
    const { reason } = objectOf(response.incomplete_details);
    said.stop = reason === 'content_filter' ? 'refusal' : 'maxTokens';
  }
  const usage = objectOf(response.usage);
  said.input = num(usage.input_tokens);
  said.output = num(usage.output_tokens);
  said.cached = num(objectOf(usage.input_tokens_details).cached_tokens);
  return said;
}
