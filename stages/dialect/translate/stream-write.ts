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

/** Follows one stream; a dialect says what is written of each event, which may be nothing. */
export abstract class EventWriter implements StreamWriter {
  protected readonly context: AnswerContext;
  protected usage: Usage = emptyUsage;
  protected reason: StopReason = 'end';
  protected sequence: string | undefined;
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

  /** The model as the provider names it, else as the client did. */
  protected modelOf({ model }: Extract<CanonicalEvent, { type: 'start' }>): string {
    return model === '' ? this.context.wishes.model : model;
  }

  protected abstract start(event: Extract<CanonicalEvent, { type: 'start' }>): string;
  protected abstract openBlock(block: OpeningBlock): string;
  protected abstract delta(open: OpeningBlock, text: string): string;
  /** `text` is all that the block held. */
  protected abstract closeBlock(open: OpeningBlock, text: string): string;
  protected abstract end(): string;
  protected abstract fail(error: CanonicalError): string;

  /** Where the dialect has no such event, a comment keeps the connection's watchdogs quiet. */
  protected ping(): string {
    return ': ping\n\n';
  }
}

/** An event that is named by the type of what it holds. */
export function typedEvent(payload: JsonObject & { readonly type: string }): WireEvent {
  return { event: payload.type, data: exactJson(payload) };
}
