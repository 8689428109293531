/**
 * Follows an answer's bytes and gathers what it says of its usage, without parsing what
 * says nothing. Of a stream only the events that hold a needle are looked into, and in those
 * only the few values that the dialect names; a document is looked into once, at its end.
 */
import type { Usage } from '../model/usage.ts';
import { compileReader } from './answer-reader.ts';
import type { AnswerReader, CompiledReader } from './answer-reader.ts';
import type { UsageObserver } from '../model/dialect.ts';
import { DocumentObserver } from './observe-document.ts';
import { createStreamObserver } from './observe-stream.ts';

/** Gives observers of one dialect's answers. */
export type AnswerObservers = (streaming: boolean) => UsageObserver;

/** Less than this of a stream waits to be looked at with what comes next. */
const HELD_BYTES = 4096;
/** The first that is neither blank nor a byte order mark: a bracket begins no stream of events, whatever the head declares. */
const FIRST_CONTENT = /[^\s\xef\xbb\xbf]/;

/** Gives observers for `reader`; each follows one answer and never throws. */
export function createObservers(reader: AnswerReader): AnswerObservers {
  const compiled = compileReader(reader);
  return (streaming) =>
    streaming ? new DecidingObserver(compiled) : new DocumentObserver(compiled);
}

/**
 * Some stream as one JSON list, and some answer a request for a stream with one object. A few
 * bytes are looked at when more have come or somebody asks: the first event of a stream then
 * goes out before it is read, and small ones are read many at a time.
 */
class DecidingObserver implements UsageObserver {
  readonly #compiled: CompiledReader;
  #observer: UsageObserver;
  #isDecided = false;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(compiled: CompiledReader) {
    this.#compiled = compiled;
    this.#observer = createStreamObserver(compiled);
  }

  push(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= HELD_BYTES) this.#look();
  }

  usage(): Usage {
    return this.#look().usage();
  }

  streamedTokens(): number {
    return this.#look().streamedTokens();
  }

  model(): string | undefined {
    return this.#look().model();
  }

  terminated(): boolean {
    return this.#look().terminated();
  }

  failed(): boolean {
    return this.#look().failed();
  }

  isCutShort(): boolean {
    return this.#look().isCutShort();
  }

  /** The observer, with all that came. */
  #look(): UsageObserver {
    if (this.#held.length === 0) return this.#observer;
    const bytes = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    if (!this.#isDecided) this.#decide(bytes);
    this.#observer.push(bytes);
    return this.#observer;
  }

  #decide(bytes: Buffer): void {
    const beginning = FIRST_CONTENT.exec(bytes.toString('latin1'))?.[0];
    this.#isDecided = beginning !== undefined;
    if (beginning === '{' || beginning === '[')
      this.#observer = new DocumentObserver(this.#compiled);
  }
}
