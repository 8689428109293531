/** Writes the chat stream: a chunk for the role, deltas, the finish reason, the usage if asked for, `[DONE]`. */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type {
  CanonicalEvent,
  JsonObject,
  OpeningBlock,
  StopReason,
  StreamWriter,
} from '../canonical.ts';
import type { AnswerContext } from '../translate-dialect.ts';
import { unwrapFreeform } from '../translate-freeform.ts';
import { answerId } from '../translate-ids.ts';
import { writeChatError, writeChatStop, writeChatUsage } from './translate-answer.ts';

/** Writes one stream. */
export class ChatWriter implements StreamWriter {
  readonly #context: AnswerContext;
  #id = '';
  #model = '';
  #created = 0;
  /** Counts tool calls only: text blocks have no index in this dialect. */
  #tool = -1;
  #open: OpeningBlock | undefined;
  #input = '';
  #usage: Usage = emptyUsage;
  #reason: StopReason = 'end';

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'blockStart':
        this.#open = event.block;
        this.#input = '';
        return event.block.kind === 'toolUse' ? this.#openTool(event.block) : '';
      case 'delta':
        return this.#delta(event.text);
      case 'blockStop':
        return this.#closeBlock();
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'stop':
        this.#reason = event.reason;
        return '';
      case 'end':
        return this.#end();
      case 'error':
        return data(writeChatError(event.error));
      default:
        // The dialect has no such event; a comment keeps the connection's watchdogs quiet.
        return ': ping\n\n';
    }
  }

  #start(event: Extract<CanonicalEvent, { type: 'start' }>): string {
    this.#id = answerId('chatcmpl-', event.id, this.#context.ids);
    this.#model = event.model === '' ? this.#context.wishes.model : event.model;
    this.#created = event.createdS ?? Math.floor(this.#context.now() / 1000);
    return this.#chunk({ role: 'assistant', content: '' });
  }

  #isFreeform(block: OpeningBlock): boolean {
    return block.kind === 'toolUse' && this.#context.wishes.freeformTools.includes(block.name);
  }

  #openTool(block: Extract<OpeningBlock, { kind: 'toolUse' }>): string {
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

  #delta(text: string): string {
    const open = this.#open;
    switch (open?.kind) {
      case 'toolUse':
        this.#input += text;
        return this.#isFreeform(open) ? '' : this.#toolChunk({ function: { arguments: text } });
      case 'thinking':
        return this.#chunk({ reasoning_content: text });
      case 'refusal':
        return this.#chunk({ refusal: text });
      case 'text':
        return this.#chunk({ content: text });
      default:
        return '';
    }
  }

  /** Free text can be unwrapped only once it is whole; a call without arguments says so, as clients parse them. */
  #closeBlock(): string {
    const open = this.#open;
    this.#open = undefined;
    if (open?.kind !== 'toolUse') return '';
    if (this.#isFreeform(open)) {
      return this.#toolChunk({ custom: { input: unwrapFreeform(this.#input) } });
    }
    return this.#input === '' ? this.#toolChunk({ function: { arguments: '{}' } }) : '';
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

  #end(): string {
    const usage = this.#context.wishes.includeUsage ? writeChatUsage(this.#usage) : undefined;
    const counted = usage === undefined ? '' : data({ ...this.#envelope(), choices: [], usage });
    return `${this.#chunk({}, writeChatStop(this.#reason))}${counted}data: [DONE]\n\n`;
  }
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
