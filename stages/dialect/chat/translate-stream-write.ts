/**
 * Writes the chat stream: a chunk for the role, deltas, the finish reason, the usage if asked for,
 * `[DONE]`.
 */
import type { CanonicalError, CanonicalEvent, JsonObject, OpeningBlock } from '../canonical.ts';
import { unwrapFreeform } from '../translate/freeform.ts';
import { answerId } from '../translate/ids.ts';
import { EventWriter } from '../translate/stream-write.ts';
import { writeChatError, chatStop, writeChatUsage, writeImage } from './translate-answer.ts';
import { exactJson } from '../exact-json.ts';

/** Writes one stream. */
export class ChatWriter extends EventWriter {
  #id = '';
  #model = '';
  #created = 0;
  /** Counts tool calls only: text blocks have no index in this dialect. */
  #tool = -1;
  #image = -1;

  protected start(event: Extract<CanonicalEvent, { type: 'start' }>): string {
    this.#id = answerId('chatcmpl-', event.id, this.context.ids);
    this.#model = this.modelOf(event);
    this.#created = event.createdS ?? Math.floor(this.context.now() / 1000);
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #isFreeform(block: OpeningBlock): boolean {
    return (
      block.kind === 'toolUse' && this.context.clientOptions.freeformTools.includes(block.name)
    );
  }

  protected openBlock(block: OpeningBlock): string {
    if (block.kind === 'image') {
      this.#image += 1;
      return this.#chunk({ images: [{ index: this.#image, ...writeImage(block) }] });
    }
    if (block.kind !== 'toolUse') return '';
    this.#tool += 1;
    const { id, name } = block;
    const call = this.#isFreeform(block)
      ? { id, type: 'custom', custom: { name, input: '' } }
      : { id, type: 'function', function: { name, arguments: '' } };
    return this.#toolChunk(call);
  }

  #toolChunk(call: JsonObject): string {
    return this.#chunk({ tool_calls: [{ index: this.#tool, ...call }] });
  }

  protected delta(open: OpeningBlock, text: string): string {
    switch (open.kind) {
      case 'toolUse':
        return this.#isFreeform(open) ? '' : this.#toolChunk({ function: { arguments: text } });
      case 'thinking':
        return this.#chunk({ reasoning_content: text });
      case 'refusal':
        return this.#chunk({ refusal: text });
      default:
        return this.#chunk({ content: text });
    }
  }

  /**
   * Free text can only be unwrapped once it is complete; a call without arguments gets an empty
   * object, since clients parse it.
   */
  protected closeBlock(open: OpeningBlock, text: string): string {
    if (open.kind !== 'toolUse') return '';
    if (this.#isFreeform(open)) return this.#toolChunk({ custom: { input: unwrapFreeform(text) } });
    return text === '' ? this.#toolChunk({ function: { arguments: '{}' } }) : '';
  }

  #chunk(delta: JsonObject, finish: string | null = null): string {
    return data({ ...this.#envelope(), choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  #envelope(): JsonObject {
    return {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#model,
    };
  }

  protected end(): string {
    const usage = this.context.clientOptions.includeUsage ? writeChatUsage(this.usage) : undefined;
    const counted = usage === undefined ? '' : data({ ...this.#envelope(), choices: [], usage });
    return `${this.#chunk({}, chatStop[this.reason])}${counted}data: [DONE]\n\n`;
  }

  protected fail(error: CanonicalError): string {
    return data(writeChatError(error));
  }
}

function data(value: JsonObject): string {
  return `data: ${exactJson(value)}\n\n`;
}
