/**
 * Writes the responses stream: every item announced, filled and repeated whole, then the whole
 * response.
 */
import type { CanonicalError, CanonicalEvent, JsonObject, OpeningBlock } from '../canonical.ts';
import { writeChatError } from '../chat/translate-answer.ts';
import { exactJson } from '../exact-json.ts';
import { objectOf, objectsOf } from '../json-kind.ts';
import { EventWriter } from '../translate/stream-write.ts';
import {
  callForm,
  responseEnvelope,
  writeOutputItem,
  writeResponsesStop,
  writeResponsesUsage,
} from './translate-answer.ts';

/** The empty members of an announced call. */
const EMPTY_CALL = {
  function: { arguments: '' },
  custom: { input: '' },
  search: { arguments: {} },
};

/** Writes one stream. */
export class ResponsesWriter extends EventWriter {
  #envelope: JsonObject = {};
  #sequence = 0;
  #output: JsonObject[] = [];
  #item: JsonObject = {};

  protected start(event: Extract<CanonicalEvent, { type: 'start' }>): string {
    this.#envelope = responseEnvelope(event, this.context);
    return (
      this.#event('response.created', { response: this.#envelope }) +
      this.#event('response.in_progress', { response: this.#envelope })
    );
  }

  #event(type: string, rest: JsonObject): string {
    const data = { type, sequence_number: this.#sequence, ...rest };
    this.#sequence += 1;
    return `event: ${type}\ndata: ${exactJson(data)}\n\n`;
  }

  /** Returns the position of the open item and its part. */
  #position(): JsonObject {
    return { item_id: this.#item.id, output_index: this.#output.length };
  }

  /** Returns how a call is written. */
  #form(open: OpeningBlock): ReturnType<typeof callForm> {
    return open.kind === 'toolUse' ? callForm(open.name, this.context.clientOptions) : 'function';
  }

  protected openBlock(block: OpeningBlock): string {
    if (block.kind === 'thinking') return '';
    const filled = block.kind === 'toolUse' ? { ...block, input: '' } : { ...block, text: '' };
    this.#item = { ...writeOutputItem(filled, this.context), status: 'in_progress' };
    if (block.kind === 'image') return this.#added({ ...this.#item, result: null });
    if (block.kind === 'toolUse') {
      return this.#added({ ...this.#item, ...EMPTY_CALL[this.#form(block)] });
    }
    const part = objectsOf(this.#item.content)[0];
    const announced = this.#added({ ...this.#item, content: [] });
    const position = { ...this.#position(), content_index: 0 };
    return announced + this.#event('response.content_part.added', { ...position, part });
  }

  #added(item: JsonObject): string {
    const output_index = this.#output.length;
    return this.#event('response.output_item.added', { output_index, item });
  }

  protected delta(open: OpeningBlock, text: string): string {
    const position = this.#position();
    switch (open.kind) {
      case 'text':
        return this.#event('response.output_text.delta', {
          ...position,
          content_index: 0,
          delta: text,
          logprobs: [],
        });
      case 'refusal':
        return this.#event('response.refusal.delta', {
          ...position,
          content_index: 0,
          delta: text,
        });
      case 'toolUse':
        if (this.#form(open) !== 'function') return '';
        return this.#event('response.function_call_arguments.delta', { ...position, delta: text });
      default:
        return '';
    }
  }

  protected closeBlock(open: OpeningBlock, text: string): string {
    if (open.kind === 'thinking') return '';
    const filled = open.kind === 'toolUse' ? { ...open, input: text } : { ...open, text };
    const written = writeOutputItem(filled, this.context);
    // The whole item keeps the id it was announced with.
    const item: JsonObject = { ...written, status: 'completed', id: this.#item.id };
    const done = this.#doneEvents(open, item, text);
    const output_index = this.#output.length;
    const closed = this.#event('response.output_item.done', { output_index, item });
    this.#output.push(item);
    return done + closed;
  }

  #doneEvents(open: OpeningBlock, item: JsonObject, text: string): string {
    if (open.kind === 'image') return '';
    const position = this.#position();
    if (open.kind === 'toolUse') {
      const form = this.#form(open);
      if (form === 'search') return '';
      if (form === 'custom') {
        const { input } = item;
        return (
          this.#event('response.custom_tool_call_input.delta', { ...position, delta: input }) +
          this.#event('response.custom_tool_call_input.done', { ...position, input })
        );
      }
      const inner = { name: item.name, arguments: item.arguments };
      return this.#event('response.function_call_arguments.done', { ...position, ...inner });
    }
    const part = objectsOf(item.content)[0];
    const at = { ...position, content_index: 0 };
    const inner =
      open.kind === 'text'
        ? this.#event('response.output_text.done', { ...at, text, logprobs: [] })
        : this.#event('response.refusal.done', { ...at, refusal: text });
    return inner + this.#event('response.content_part.done', { ...at, part });
  }

  protected end(): string {
    const stop = writeResponsesStop(this.reason);
    const usage = writeResponsesUsage(this.usage);
    const response = { ...this.#envelope, ...stop, output: this.#output, usage };
    return this.#event(`response.${String(stop.status)}`, { response });
  }

  protected fail(error: CanonicalError): string {
    const inner = objectOf(writeChatError(error).error);
    const inside = { code: inner.code ?? inner.type, message: inner.message };
    if (Object.keys(this.#envelope).length === 0)
      return this.#event('error', { ...inside, param: null });
    const response = {
      ...this.#envelope,
      status: 'failed',
      error: inside,
      output: this.#output,
      usage: writeResponsesUsage(this.usage),
    };
    return this.#event('response.failed', { response });
  }
}
