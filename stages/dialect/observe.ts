/**
 * Follows an answer's bytes and collects its usage, without parsing irrelevant parts. In a stream
 * only events that contain a needle are read, and of those only the few values that the dialect
 * names; a document is read once, at its end.
 */
import { compileReader } from './answer-reader.ts';
import type { AnswerReader, CompiledReader } from './answer-reader.ts';
import type { UsageObserver } from '../model/dialect.ts';
import { DocumentObserver } from './observe-document.ts';
import { createStreamObserver } from './observe-stream.ts';

/** Creates observers of one dialect's answers. */
export type AnswerObservers = (streaming: boolean) => UsageObserver;

/** Less than this of a stream is held until more arrives. */
const HELD_BYTES = 4096;
/**
 * The first byte that is neither white space nor a byte order mark: a bracket never begins a stream
 * of events, whatever the head declares.
 */
const FIRST_CONTENT = /[^\s\xef\xbb\xbf]/;

/** Creates observers for `reader`; each follows one answer and never throws. */
export function createObservers(reader: AnswerReader): AnswerObservers {
  const compiled = compileReader(reader);
  return (streaming) =>
    streaming ? createDecidingObserver(compiled) : new DocumentObserver(compiled);
}

/**
 * Some stream as one JSON list, and some answer a stream request with one object. Small pieces are
 * read when more has arrived or a result is requested: the first event of a stream is thus sent on
 * before it is read, and small ones are read many at a time.
 */
function createDecidingObserver(compiled: CompiledReader): UsageObserver {
  let observer = createStreamObserver(compiled);
  let isDecided = false;
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** Returns the observer after it has read everything so far. */
  const flush = (): UsageObserver => {
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
      if (heldBytes >= HELD_BYTES) flush();
    },
    usage: () => flush().usage(),
    streamedTokens: () => flush().streamedTokens(),
    model: () => flush().model(),
    terminated: () => flush().terminated(),
    failed: () => flush().failed(),
    isCutShort: () => flush().isCutShort(),
  };
}
