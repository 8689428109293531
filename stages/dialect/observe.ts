/**
 * Follows an answer's bytes and gathers what it says of its usage, without parsing what
 * says nothing. Of a stream only the events that hold a needle are looked into, and in those
 * only the few values that the dialect names; a document is looked into once, at its end.
 */
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
    streaming ? createDecidingObserver(compiled) : new DocumentObserver(compiled);
}

/**
 * Some stream as one JSON list, and some answer a request for a stream with one object. A few
 * bytes are looked at when more have come or somebody asks: the first event of a stream then
 * goes out before it is read, and small ones are read many at a time.
 */
function createDecidingObserver(compiled: CompiledReader): UsageObserver {
  let observer = createStreamObserver(compiled);
  let isDecided = false;
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** The observer, with all that came. */
  const look = (): UsageObserver => {
    if (held.length === 0) return observer;
    const bytes = held.length === 1 ? held[0]! : Buffer.concat(held);
    held = [];
    heldBytes = 0;
    if (!isDecided) decide(bytes);
    observer.push(bytes);
    return observer;
  };
  const decide = (bytes: Buffer): void => {
    const beginning = FIRST_CONTENT.exec(bytes.toString('latin1'))?.[0];
    isDecided = beginning !== undefined;
    if (beginning === '{' || beginning === '[') observer = new DocumentObserver(compiled);
  };
  return {
    push(bytes) {
      held.push(bytes);
      heldBytes += bytes.length;
      if (heldBytes >= HELD_BYTES) look();
    },
    usage: () => look().usage(),
    streamedTokens: () => look().streamedTokens(),
    model: () => look().model(),
    terminated: () => look().terminated(),
    failed: () => look().failed(),
    isCutShort: () => look().isCutShort(),
  };
}
