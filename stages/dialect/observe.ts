/**
 * Follows an answer's bytes and gathers what it says of its usage, without parsing what
 * says nothing. Of a stream only the events that hold a needle are looked into, and in those
 * only the few values that the dialect names; a document is looked into once, at its end.
 */
import type { JsonPath } from '../model/block.ts';
import { emptyUsage } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { createPathScanner, findItems } from '../wire/json-path.ts';
import type { PathScanner } from '../wire/json-path.ts';
import { createNeedleScanner } from '../wire/needle.ts';
import type { UsageObserver } from './dialect.ts';
import { createEndReader } from './document-ends.ts';
import type { EndMembers, EndReader } from './document-ends.ts';
import { createHead, createTail } from './ends.ts';
import { isErrorDocument } from './error-document.ts';
import { isObject, parseJson } from './json-kind.ts';
import { estimateSaid } from './said.ts';

/** What an answer has said so far. Readers write into it. */
export interface Answer {
  usage: Usage;
  model: string | undefined;
  terminated: boolean;
  failed: boolean;
}

/** How one dialect's answers are read. */
export interface AnswerReader {
  /** Every event that carries figures, or ends the stream with figures, holds one of these. */
  readonly needles: readonly Buffer[];
  /** Where the values of interest stand, in an event's payload or in a document. */
  readonly paths: readonly JsonPath[];
  /** Which of them a whole answer has at its two ends, where they are looked for first. */
  readonly ends?: EndMembers;
  /** Takes the values at `paths`, parsed, undefined where absent. May see one payload twice. */
  read(answer: Answer, values: readonly unknown[]): void;
  /** Matches the last lines of a stream that ended properly. */
  readonly ending: RegExp;
  /** Matches the last lines of a stream that lacks its proper end and said everything all the same. */
  readonly complete?: RegExp;
  /** Matches the last lines of a stream in which an error event was sent. */
  readonly failure: RegExp;
}

/** A reader with its paths compiled. */
interface CompiledReader {
  readonly reader: AnswerReader;
  readonly scan: PathScanner;
  readonly ends: EndReader | undefined;
}

/** Gives observers of one dialect's answers. */
export type AnswerObservers = (streaming: boolean) => UsageObserver;

/**
 * A document larger than this is relayed all the same and stays unmeasured, and so does an event:
 * one that ends a stream may repeat all of it, images as well.
 */
const MAX_READ_BYTES = 32 * 1024 * 1024;
const MODEL_NEEDLE = Buffer.from('"model');
/** Up to this size parsing everything is faster than looking for a few values. */
const PARSED_BYTES = 16 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const NEW_LINE = Buffer.from('\n');
/** A byte order mark, which may stand in front of any answer. */
const MARK = Buffer.from('\uFEFF');
/** A body that begins like this is no stream of events, whatever its head said. */
const DOCUMENT_START = /^(?:\xef\xbb\xbf)?\s*[[{]/;

/** Gives observers for `reader`; each follows one answer and never throws. */
export function createObservers(reader: AnswerReader): AnswerObservers {
  // The last path is the whole value: it tells whether a document is complete.
  const scan = createPathScanner([...reader.paths, []]);
  const compiled = { reader, scan, ends: reader.ends && createEndReader(reader.ends) };
  return (streaming) =>
    streaming ? createDecidingObserver(compiled) : new DocumentObserver(compiled);
}

/** Some stream as one JSON list, and some answer a request for a stream with one object. */
function createDecidingObserver(compiled: CompiledReader): UsageObserver {
  let observer = createStreamObserver(compiled);
  let isDecided = false;
  return {
    push(bytes) {
      if (!isDecided) {
        const beginning = bytes.toString('latin1', 0, 32);
        isDecided = /[^\s\xef\xbb\xbf]/.test(beginning);
        if (DOCUMENT_START.test(beginning)) observer = new DocumentObserver(compiled);
      }
      observer.push(bytes);
    },
    usage: () => observer.usage(),
    saidTokens: () => observer.saidTokens(),
    model: () => observer.model(),
    terminated: () => observer.terminated(),
    failed: () => observer.failed(),
    isCutShort: () => observer.isCutShort(),
  };
}

function createStreamObserver(compiled: CompiledReader): UsageObserver {
  const { reader } = compiled;
  const answer = createAnswer();
  const events = createNeedleScanner(reader.needles, { maxEventBytes: MAX_READ_BYTES });
  const head = createHead();
  const tail = createTail();
  let isHeadSearched = false;
  let totalBytes = 0;
  const readEvent = (event: Buffer): void => {
    readPayload(answer, compiled, payloadOf(withoutMark(event)));
  };
  /** What is known; a stream may end without the blank line of its last event. */
  const current = (): Answer => {
    const event = events.rest();
    if (event !== undefined) readEvent(event);
    return answer;
  };
  const terminated = (): boolean => current().terminated || reader.ending.test(tail.lastEvents());
  const isComplete = (): boolean => reader.complete?.test(tail.lastEvents()) === true;
  const failed = (): boolean => current().failed || reader.failure.test(tail.lastEvents());
  return {
    push(bytes) {
      totalBytes += bytes.length;
      isHeadSearched = false;
      head.push(bytes);
      events.push(bytes, readEvent);
      tail.push(bytes);
    },
    usage: () => current().usage,
    saidTokens() {
      const beginning = head.bytes();
      const between = totalBytes - beginning.length;
      const samples = [beginning, ...(between > 0 ? [tail.bytes().subarray(-between)] : [])];
      return estimateSaid(samples, totalBytes);
    },
    model() {
      if (current().model === undefined && !isHeadSearched) {
        isHeadSearched = true;
        head.search(MODEL_NEEDLE, (event) => {
          if (answer.model === undefined) readEvent(event);
        });
      }
      return answer.model;
    },
    terminated,
    failed,
    isCutShort: () => !terminated() && !failed() && !isComplete() && tail.holdsLastEvent(),
  };
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === MARK[0] && bytes.subarray(0, MARK.length).equals(MARK)
    ? bytes.subarray(MARK.length)
    : bytes;
}

/** What an event's `data` lines hold; nearly always there is one. */
function payloadOf(event: Buffer): Buffer {
  const values: Buffer[] = [];
  let start = 0;
  while (start < event.length) {
    const found = event.indexOf(LF, start);
    const lf = found < 0 ? event.length : found;
    const cr = event.subarray(start, lf).indexOf(CR);
    const end = cr < 0 ? lf : start + cr;
    if (event.toString('latin1', start, start + 5) === 'data:') {
      values.push(event.subarray(start + 5, end), NEW_LINE);
    }
    start = end + 1;
  }
  return values.length === 2 ? values[0]! : Buffer.concat(values);
}

/** A class: most answers are documents, and an object of closures is ten times its size. */
class DocumentObserver implements UsageObserver {
  readonly #compiled: CompiledReader;
  #parts: Buffer[] = [];
  #sizeBytes = 0;
  #answer: Answer | undefined;
  #isEnded = false;

  constructor(compiled: CompiledReader) {
    this.#compiled = compiled;
  }

  push(bytes: Buffer): void {
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes <= MAX_READ_BYTES) this.#parts.push(bytes);
    else this.#parts = [];
    this.#answer = undefined;
  }

  ended(): void {
    this.#isEnded = true;
  }

  usage(): Usage {
    return this.#read().usage;
  }

  saidTokens(): number {
    return 0;
  }

  model(): string | undefined {
    return this.#read().model;
  }

  terminated(): boolean {
    return this.#read().terminated;
  }

  failed(): boolean {
    return isErrorDocument(this.#bytesSoFar());
  }

  isCutShort(): boolean {
    return this.#sizeBytes <= MAX_READ_BYTES && !this.#read().terminated;
  }

  #bytesSoFar(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0]!;
  }

  #read(): Answer {
    if (this.#answer !== undefined) return this.#answer;
    this.#answer = createAnswer();
    const bytes = withoutMark(this.#bytesSoFar());
    if (!this.#isEnded || !readEnds(this.#answer, this.#compiled, bytes))
      readDocument(this.#answer, this.#compiled, bytes);
    return this.#answer;
  }
}

function createAnswer(): Answer {
  return { usage: emptyUsage, model: undefined, terminated: false, failed: false };
}

/** Reads what is wanted of a whole document at its two ends, if it stands there. */
function readEnds(answer: Answer, { reader, ends }: CompiledReader, bytes: Buffer): boolean {
  const found = ends?.(bytes);
  if (found === undefined) return false;
  reader.read(answer, valuesAt(found, reader.paths));
  answer.terminated = true;
  return true;
}

/** A document is one object, or a list of the objects that a stream would have had as events. */
function readDocument(answer: Answer, compiled: CompiledReader, bytes: Buffer): void {
  const isWhole = readPayload(answer, compiled, bytes);
  const items = tryOr(() => findItems(bytes), []);
  for (const { start, end } of items) readPayload(answer, compiled, bytes.subarray(start, end));
  answer.terminated = isWhole;
}

/** Reads one object; returns whether it was complete. What cannot be read says nothing. */
function readPayload(answer: Answer, { reader, scan }: CompiledReader, bytes: Buffer): boolean {
  if (bytes.length <= PARSED_BYTES) {
    const whole = parseJson(bytes.toString('utf8'));
    if (whole === undefined) return false;
    reader.read(answer, valuesAt(whole, reader.paths));
    return true;
  }
  const spans = tryOr(() => scan(bytes), []);
  const values = reader.paths.map((_, i) => {
    const span = spans[i];
    return span && parseJson(bytes.toString('utf8', span.start, span.end));
  });
  reader.read(answer, values);
  return spans[reader.paths.length] !== undefined;
}

function valuesAt(whole: unknown, paths: readonly JsonPath[]): unknown[] {
  return paths.map((path) => valueAt(whole, path));
}

function valueAt(value: unknown, path: JsonPath): unknown {
  let found = value;
  for (const step of path) {
    if (Array.isArray(found)) found = typeof step === 'number' ? found[step] : undefined;
    else found = isObject(found) && typeof step === 'string' ? found[step] : undefined;
  }
  return found;
}

function tryOr<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise; // nested beyond measure; the client's own parser will judge it
  }
}
