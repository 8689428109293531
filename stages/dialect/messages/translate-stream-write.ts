/** Writes the messages stream: every block with its index, the end only when the usage is known. */
import type { CanonicalError, CanonicalEvent, JsonObject, OpeningBlock } from '../canonical.ts';
import { answerId } from '../translate/ids.ts';
import { EventWriter } from '../translate/stream-write.ts';
import {
  writeMessagesError,
  messagesStop,
  writeMessagesUsage,
  writeStopDetails,
} from './translate-answer.ts';
import { exactJson } from '../exact-json.ts';

/** Writes one stream. */
export class MessagesWriter extends EventWriter {
  #index = -1;

  protected start(event: Extract<CanonicalEvent, { type: 'start' }>): string {
    const message = {
      id: answerId('msg_', event.id, this.context.ids),
      type: 'message',
      role: 'assistant',
      model: this.modelOf(event),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      // The real counts follow in message_delta; the field is required here.
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    return namedEvent('message_start', { message });
  }

  protected openBlock(block: OpeningBlock): string {
    this.#index += 1;
    const content_block = emptyBlock(block);
    return namedEvent('content_block_start', { index: this.#index, content_block });
  }

  protected delta({ kind }: OpeningBlock, text: string): string {
    return namedEvent('content_block_delta', { index: this.#index, delta: deltaOf(kind, text) });
  }

  protected closeBlock(): string {
    return namedEvent('content_block_stop', { index: this.#index });
  }

  protected end(): string {
    const delta = {
      stop_reason: messagesStop[this.reason],
      stop_sequence: this.sequence ?? null,
      ...writeStopDetails(this.reason, this.why),
    };
    const usage = writeMessagesUsage(this.usage);
    return namedEvent('message_delta', { delta, usage }) + namedEvent('message_stop', {});
  }

  protected fail(error: CanonicalError): string {
    return toEvent('error', writeMessagesError(error));
  }

  protected override ping(): string {
    return namedEvent('ping', {});
  }
}

function namedEvent(type: string, rest: JsonObject): string {
  return toEvent(type, { type, ...rest });
}

function toEvent(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${exactJson(data)}\n\n`;
}

function emptyBlock(opening: OpeningBlock): JsonObject {
  switch (opening.kind) {
    case 'toolUse':
      return { type: 'tool_use', id: opening.id, name: opening.name, input: {} };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    default:
      return { type: 'text', text: '' };
  }
}

function deltaOf(kind: OpeningBlock['kind'], text: string): JsonObject {
  switch (kind) {
    case 'toolUse':
      return { type: 'input_json_delta', partial_json: text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    default:
      return { type: 'text_delta', text };
  }
}
