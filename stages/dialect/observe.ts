/**
 * Follows an answer's bytes and gathers what it says of its usage, without parsing what
 * says nothing. Of a stream only the lines that hold a needle are looked into, and in those
 * only the few values that the dialect names; a document is looked into once, at its end.
 */
import type { JsonPath } from '../model/block.ts';
import { emptyUsage } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { createPathScanner, findItems } from '../wire/json-path.ts';
import type { PathScanner } from '../wire/json-path.ts';
import { createNeedleScanner } from '../wire/needle.ts';
import type { UsageObserver } from './dialect.ts';
import { parseJson } from './json-kind.ts';

/** What an answer has said so far. Readers write into it. */
export interface Answer {
  usage: Usage;
  model: string | undefined;
  terminated: boolean;
  failed: boolean;
}

/** How one dialect's answers are read. */
export interface AnswerReader {
  /** Every line that carries figures, or ends the stream with figures, holds one of these. */
  readonly needles: readonly Buffer[];
  /** Where the values of interest stand, in an event's payload or in a document. */
  readonly paths: readonly JsonPath[];
  /** Takes the values at `paths`, parsed, undefined where absent. May see one payload twice. */
  read(answer: Answer, values: readonly unknown[]): void;
  /** Matches the last lines of a stream that ended properly. */
  readonly ending: RegExp;
  /** Matches the last lines of a stream in which an error event was sent. */
  readonly failure: RegExp;
}

/** A reader with its paths compiled, made once per dialect. */
export type AnswerObservers = (streaming: boolean) => UsageObserver;

/** A document larger than this is relayed all the same and stays unmeasured. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
/** The end of a stream within which terminators and error events are looked for. */
const TAIL_BYTES = 4096;
/** The beginning of a stream within which the model is looked for, if no line with figures named it. */
const HEAD_BYTES = 8 * 1024;
const MODEL_NEEDLE = Buffer.from('"model');
const OPEN_OBJECT = 0x7b;

/** Gives observers for `reader`; each follows one answer and never throws. */
export function createObservers(reader: AnswerReader): AnswerObservers {
  // The last path is the whole value: it tells whether a document is complete.
  const scan = createPathScanner([...reader.paths, []]);
  return (streaming) =>
    streaming ? createStreamObserver(reader, scan) : createDocumentObserver(reader, scan);
}

function createStreamObserver(reader: AnswerReader, scan: PathScanner): UsageObserver {
  const answer = createAnswer();
  const lines = createNeedleScanner(reader.needles);
  const head: Buffer[] = [];
  let headBytes = 0;
  const tail = createTail();
  const readLine = (line: Buffer): void => {
    const open = line.indexOf(OPEN_OBJECT);
    if (open >= 0) readPayload(answer, reader, scan, line.subarray(open));
  };
  /** A stream may end without the line end of its last line. */
  const readRest = (): void => {
    const line = lines.rest();
    if (line !== undefined) readLine(line);
  };
  const readHead = (): void => {
    createNeedleScanner([MODEL_NEEDLE]).push(Buffer.concat(head), (line) => {
      if (answer.model === undefined) readLine(line);
    });
  };
  return {
    push(bytes) {
      if (headBytes < HEAD_BYTES) {
        head.push(bytes.subarray(0, HEAD_BYTES));
        headBytes += bytes.length;
      }
      lines.push(bytes, readLine);
      tail.push(bytes);
    },
    usage() {
      readRest();
      return answer.usage;
    },
    model() {
      readRest();
      if (answer.model === undefined) readHead();
      return answer.model;
    },
    terminated() {
      readRest();
      return answer.terminated || reader.ending.test(tail.text());
    },
    failed() {
      readRest();
      return answer.failed || reader.failure.test(tail.text());
    },
  };
}

function createDocumentObserver(reader: AnswerReader, scan: PathScanner): UsageObserver {
  let parts: Buffer[] = [];
  let size = 0;
  let answer: Answer | undefined;
  const read = (): Answer => {
    if (answer !== undefined) return answer;
    answer = createAnswer();
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    parts = [bytes];
    readDocument(answer, reader, scan, bytes);
    return answer;
  };
  return {
    push(bytes) {
      size += bytes.length;
      if (size <= MAX_DOCUMENT_BYTES) parts.push(bytes);
      else parts = [];
      answer = undefined;
    },
    usage: () => read().usage,
    model: () => read().model,
    terminated: () => read().terminated,
    failed: () => false,
  };
}

function createAnswer(): Answer {
  return { usage: emptyUsage, model: undefined, terminated: false, failed: false };
}

/** A document is one object, or a list of the objects that a stream would have had as events. */
function readDocument(
  answer: Answer,
  reader: AnswerReader,
  scan: PathScanner,
  bytes: Buffer,
): void {
  const isWhole = readPayload(answer, reader, scan, bytes);
  const items = tryOr(() => findItems(bytes), []);
  for (const item of items) readPayload(answer, reader, scan, bytes.subarray(item.start, item.end));
  answer.terminated = isWhole;
}

/** Reads one object; returns whether it was complete. What cannot be read says nothing. */
function readPayload(
  answer: Answer,
  reader: AnswerReader,
  scan: PathScanner,
  bytes: Buffer,
): boolean {
  const spans = tryOr(() => scan(bytes), []);
  const values = reader.paths.map((_, i) => {
    const span = spans[i];
    return span && parseJson(bytes.toString('utf8', span.start, span.end));
  });
  reader.read(answer, values);
  return spans[reader.paths.length] !== undefined;
}

function tryOr<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise; // nested beyond measure; the client's own parser will judge it
  }
}

interface Tail {
  push(bytes: Buffer): void;
  text(): string;
}

/** Keeps the last few kilobytes of a stream without copying them. */
function createTail(): Tail {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    push(bytes) {
      if (bytes.length >= TAIL_BYTES) {
        parts = [bytes.subarray(bytes.length - TAIL_BYTES)];
        size = TAIL_BYTES;
        return;
      }
      parts.push(bytes);
      size += bytes.length;
      while (size - parts[0]!.length >= TAIL_BYTES) size -= parts.shift()!.length;
    },
    text: () => Buffer.concat(parts).toString('latin1'),
  };
}
