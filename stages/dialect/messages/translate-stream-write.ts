/** Writes the messages stream: every block with its index, the end only when the usage is known. */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type {
  CanonicalEvent,
  JsonObject,
  OpeningBlock,
  StopReason,
  StreamWriter,
} from '../canonical.ts';
import type { AnswerContext } from '../translate-dialect.ts';
import { answerId } from '../translate-ids.ts';
import { writeMessagesError, writeMessagesStop, writeMessagesUsage } from './translate-answer.ts';

/** Writes one stream. */
export class MessagesWriter implements StreamWriter {
  readonly #context: AnswerContext;
  #index = -1;
  #kind: OpeningBlock['kind'] = 'text';
  #usage: Usage = emptyUsage;
  #reason: StopReason = 'end';
  #sequence: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'start':
        return named('message_start', { message: this.#emptyMessage(event) });
      case 'blockStart':
        this.#index += 1;
        this.#kind = event.block.kind;
        return named('content_block_start', {
          index: this.#index,
          content_block: emptyBlock(event.block),
        });
      case 'delta':
        return named('content_block_delta', {
          index: this.#index,
          delta: deltaOf(this.#kind, event.text),
        });
      case 'blockStop':
        return named('content_block_stop', { index: this.#index });
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'stop':
        this.#reason = event.reason;
        this.#sequence = event.sequence;
        return '';
      case 'end':
        return this.#end();
      case 'error':
        return toEvent('error', writeMessagesError(event.error));
      default:
        return named('ping', {});
    }
  }

  #emptyMessage(event: Extract<CanonicalEvent, { type: 'start' }>): JsonObject {
    return {
      id: answerId('msg_', event.id, this.#context.ids),
      type: 'message',
      role: 'assistant',
      model: event.model === '' ? this.#context.wishes.model : event.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      // The real counts follow in message_delta; the field is required here.
      usage: { input_tokens: 0, output_tokens: 0 },
    };
  }

  #end(): string {
    const delta = {
      stop_reason: writeMessagesStop(this.#reason),
      stop_sequence: this.#sequence ?? null,
    };
    const usage = writeMessagesUsage(this.#usage);
    return named('message_delta', { delta, usage }) + named('message_stop', {});
  }
}

function named(type: string, rest: JsonObject): string {
  return toEvent(type, { type, ...rest });
}

function toEvent(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
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
