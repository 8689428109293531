/** Follows a stream: only events that contain a needle are read, and its two ends if needed. */
import { createNeedleScanner, dataOf } from '../wire/events.ts';
import { MAX_READ_BYTES, createAnswer, readPayload, withoutMark } from './answer-reader.ts';
import type { Answer, CompiledReader } from './answer-reader.ts';
import type { UsageObserver } from '../model/dialect.ts';
import { createFirstBytes, createTail } from './stream-ends.ts';
import { estimateStreamed } from './streamed-text.ts';

const MODEL_NEEDLE = Buffer.from('"model');

/** Reads the metadata of a stream of events, from bytes in pieces of any size. */
export function createStreamObserver(compiled: CompiledReader): UsageObserver {
  const { reader } = compiled;
  const answer = createAnswer();
  const events = createNeedleScanner(reader.needles, { maxEventBytes: MAX_READ_BYTES });
  const first = createFirstBytes();
  const tail = createTail();
  let isStartSearched = false;
  let totalBytes = 0;
  const readEvent = (event: Buffer): void => {
    readPayload(answer, compiled, dataOf(withoutMark(event)));
  };
  /** Returns what is known; a stream may end without the blank line of its last event. */
  const current = (): Answer => {
    const event = events.rest();
    if (event !== undefined) readEvent(event);
    return answer;
  };
  const terminated = (): boolean => current().terminated || reader.ending.test(tail.lastEvents());
  const isComplete = (): boolean => reader.complete?.test(tail.lastEvents()) === true;
  const failed = (): boolean => current().failed || reader.failure.test(tail.lastEvents());
  const searchStart = (): void => {
    if (current().model !== undefined || isStartSearched) return;
    isStartSearched = true;
    first.search(MODEL_NEEDLE, (event) => {
      if (answer.model === undefined) readEvent(event);
    });
  };
  return {
    push(bytes) {
      totalBytes += bytes.length;
      isStartSearched = false;
      first.push(bytes);
      events.push(bytes, readEvent);
      tail.push(bytes);
    },
    usage() {
      // The beginning also names the terms, if no figures have come.
      searchStart();
      return answer.usage;
    },
    streamedTokens() {
      const beginning = first.bytes();
      const between = totalBytes - beginning.length;
      const samples = [beginning, ...(between > 0 ? [tail.bytes().subarray(-between)] : [])];
      return estimateStreamed(samples, totalBytes);
    },
    model() {
      searchStart();
      return answer.model;
    },
    terminated,
    failed,
    isCutShort: () => !terminated() && !failed() && !isComplete() && tail.holdsLastEvent(),
  };
}
