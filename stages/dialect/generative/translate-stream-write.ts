/** Writes the generative stream, as events or as one JSON array. Function calls go out whole. */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type {
  CanonicalEvent,
  JsonObject,
  OpeningBlock,
  StopReason,
  StreamWriter,
} from '../canonical.ts';
import type { AnswerContext } from '../translate-dialect.ts';
import { statusOfError } from '../translate-errors.ts';
import { defined } from '../translate-json.ts';
import {
  writeCall,
  writeGenerativeError,
  writeGenerativeStop,
  writeGenerativeUsage,
} from './translate-answer.ts';

/** Writes one stream. */
export class GenerativeWriter implements StreamWriter {
  readonly #context: AnswerContext;
  #id = '';
  #model = '';
  #open: OpeningBlock | undefined;
  #input = '';
  #usage: Usage = emptyUsage;
  #reason: StopReason = 'end';
  #written = false;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'start':
        this.#id = event.id === '' ? this.#context.ids() : event.id;
        this.#model = event.model === '' ? this.#context.wishes.model : event.model;
        return '';
      case 'blockStart':
        this.#open = event.block;
        this.#input = '';
        return '';
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
        return this.#event(
          writeGenerativeError(event.error, statusOfError(event.error.kind)),
          true,
        );
      default:
        // Clients of this dialect take nothing but values: a comment makes some of them wait for the
        // rest of a value, and then fail at the end. Their own provider sends nothing either.
        return '';
    }
  }

  #delta(text: string): string {
    if (this.#open?.kind === 'toolUse') {
      this.#input += text;
      return '';
    }
    const part = this.#open?.kind === 'thinking' ? { text, thought: true } : { text };
    return this.#chunk({ content: { role: 'model', parts: [part] } });
  }

  #closeBlock(): string {
    const open = this.#open;
    this.#open = undefined;
    if (open?.kind !== 'toolUse') return '';
    const part = writeCall(open.id, open.name, this.#input);
    return this.#chunk({ content: { role: 'model', parts: [part] } });
  }

  #chunk(candidate: JsonObject, usage?: JsonObject): string {
    return this.#event(
      defined({
        candidates: [{ ...candidate, index: 0 }],
        usageMetadata: usage,
        modelVersion: this.#model,
        responseId: this.#id,
      }),
      usage !== undefined || 'finishReason' in candidate,
    );
  }

  /** The last chunk has an empty part, as the provider's own has: clients look for its parts. */
  #end(): string {
    const content = { role: 'model', parts: [{ text: '' }] };
    const finishReason = writeGenerativeStop(this.#reason);
    return this.#chunk({ content, finishReason }, writeGenerativeUsage(this.#usage));
  }

  #event(value: JsonObject, last: boolean): string {
    const text = JSON.stringify(value);
    if (this.#context.wishes.framing === 'sse') return `data: ${text}\n\n`;
    const before = this.#written ? ',\n' : '[';
    this.#written = true;
    return `${before}${text}${last ? ']' : ''}`;
  }
}
