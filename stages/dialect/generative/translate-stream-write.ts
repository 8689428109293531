/**
 * Writes the generative stream, as events or as one JSON array. Function calls are written whole.
 */
import type { CanonicalError, CanonicalEvent, JsonObject, OpeningBlock } from '../canonical.ts';
import { statusOfError } from '../translate/errors.ts';
import { exactJson } from '../exact-json.ts';
import { defined } from '../json-kind.ts';
import { writeMedia } from './translate-content.ts';
import { EventWriter } from '../translate/stream-write.ts';
import {
  writeCall,
  writeGenerativeError,
  generativeStop,
  writeGenerativeUsage,
} from './translate-answer.ts';

/** Writes one stream. */
export class GenerativeWriter extends EventWriter {
  #id = '';
  #model = '';
  #written = false;

  protected start(event: Extract<CanonicalEvent, { type: 'start' }>): string {
    this.#id = event.id === '' ? this.context.ids() : event.id;
    this.#model = this.modelOf(event);
    return '';
  }

  protected openBlock(block: OpeningBlock): string {
    return block.kind === 'image' ? this.#content(writeMedia(block)) : '';
  }

  protected delta({ kind }: OpeningBlock, text: string): string {
    if (kind === 'toolUse') return '';
    return this.#content(kind === 'thinking' ? { text, thought: true } : { text });
  }

  protected closeBlock(open: OpeningBlock, text: string): string {
    return open.kind === 'toolUse' ? this.#content(writeCall(open.id, open.name, text)) : '';
  }

  #content(part: JsonObject): string {
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

  /** The last chunk has an empty part, as from the provider itself: clients expect parts. */
  protected end(): string {
    const content = { role: 'model', parts: [{ text: '' }] };
    const finishReason = generativeStop[this.reason];
    const reason = this.why === undefined ? {} : { finishMessage: this.why };
    return this.#chunk({ content, finishReason, ...reason }, writeGenerativeUsage(this.usage));
  }

  protected fail(error: CanonicalError): string {
    return this.#event(writeGenerativeError(error, statusOfError[error.kind]), true);
  }

  /**
   * Clients of this dialect accept only values: a comment makes some of them wait for the rest of a
   * value, and then fail at the end. Their own provider sends no pings either.
   */
  protected override ping(): string {
    return '';
  }

  #event(value: JsonObject, last: boolean): string {
    const text = exactJson(value);
    if (this.context.clientOptions.framing === 'sse') return `data: ${text}\n\n`;
    const before = this.#written ? ',\n' : '[';
    this.#written = true;
    return `${before}${text}${last ? ']' : ''}`;
  }
}
