/** What the writers of all dialects' streams have in common. */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type {
  CanonicalError,
  CanonicalEvent,
  OpeningBlock,
  StopReason,
  StreamWriter,
  WireEvent,
} from '../canonical.ts';
import { exactJson } from '../exact-json.ts';
import type { JsonObject } from '../json-kind.ts';
import type { AnswerContext } from './dialect.ts';

/** Follows one stream; a dialect returns the text for each event, which may be empty. */
export abstract class EventWriter implements StreamWriter {
  protected readonly context: AnswerContext;
  protected usage: Usage = emptyUsage;
  protected reason: StopReason = 'end';
  protected sequence: string | undefined;
  protected why: string | undefined;
  #open: OpeningBlock | undefined;
  #text = '';

  constructor(context: AnswerContext) {
    this.context = context;
  }

  write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'start':
        return this.start(event);
      case 'blockStart':
        this.#open = event.block;
        this.#text = '';
        return this.openBlock(event.block);
      case 'delta':
        this.#text += event.text;
        return this.#open === undefined ? '' : this.delta(this.#open, event.text);
      case 'blockStop': {
        const open = this.#open;
        this.#open = undefined;
        return open === undefined ? '' : this.closeBlock(open, this.#text);
      }
      case 'usage':
        this.usage = event.usage;
        return '';
      case 'stop':
        this.reason = event.reason;
        this.sequence = event.sequence;
        this.why = event.why;
        return '';
      case 'end':
        return this.end();
      case 'error':
        return this.fail(event.error);
      case 'mark':
        return '';
      default:
        return this.ping();
    }
  }

  /** Returns the provider's name of the model, else the client's. */
  protected modelOf({ model }: Extract<CanonicalEvent, { type: 'start' }>): string {
    return model === '' ? this.context.clientOptions.model : model;
  }

  protected abstract start(event: Extract<CanonicalEvent, { type: 'start' }>): string;
  protected abstract openBlock(block: OpeningBlock): string;
  protected abstract delta(open: OpeningBlock, text: string): string;
  /** `text` is the whole content of the block. */
  protected abstract closeBlock(open: OpeningBlock, text: string): string;
  protected abstract end(): string;
  protected abstract fail(error: CanonicalError): string;

  /** If the dialect has no ping event, a comment keeps connection watchdogs quiet. */
  protected ping(): string {
    return ': ping\n\n';
  }
}

/** Makes an event named after the type of its payload. */
export function typedEvent(payload: JsonObject & { readonly type: string }): WireEvent {
  return { event: payload.type, data: exactJson(payload) };
}
