/**
 * What a dialect reads from its answers, and how one object is read: an event's payload or a
 * document.
 */
import type { JsonPath } from '../model/block.ts';
import { emptyUsage } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { createPathScanner } from '../wire/json-path.ts';
import type { PathScanner } from '../wire/json-path.ts';
import { createEndReader } from './document-ends.ts';
import type { EndMembers, EndReader } from './document-ends.ts';
import { isObject, parseJson } from './json-kind.ts';

/** What is known of an answer so far. Readers write into it. */
export interface Answer {
  usage: Usage;
  model: string | undefined;
  terminated: boolean;
  failed: boolean;
  /** Types of the hosted tool calls made so far, by call id. */
  searches: ReadonlyMap<string, string> | undefined;
}

/** How one dialect's answers are read. */
export interface AnswerReader {
  /**
   * Every event that carries figures, or ends the stream with figures, contains one of these. At
   * most seven bytes each: node searches longer ones with a table, which took 60 to 76 µs for 200
   * events in place of 2 to 6.
   */
  readonly needles: readonly Buffer[];
  /** Paths of the values to read, in an event's payload or in a document. */
  readonly paths: readonly JsonPath[];
  /** Which of them are at the two ends of a whole answer, where they are looked for first. */
  readonly ends?: EndMembers;
  /** In a document that contains one of these, a value at `paths` may be anywhere. */
  readonly details?: readonly Buffer[];
  /**
   * Reads the calls of hosted tools from the whole event or document, if it contains one of the
   * needles.
   */
  readonly hosted?: {
    readonly needles: readonly Buffer[];
    read(answer: Answer, payload: unknown): void;
  };
  /** Takes the parsed values at `paths`, undefined if absent. May see one payload twice. */
  read(answer: Answer, values: readonly unknown[]): void;
  /** Matches the last lines of a stream that ended properly. */
  readonly ending: RegExp;
  /** Matches the last lines of a stream that is complete without its proper end. */
  readonly complete?: RegExp;
  /** Matches the last lines of a stream that contains an error event. */
  readonly failure: RegExp;
}

/** A reader with its paths compiled. */
export interface CompiledReader {
  readonly reader: AnswerReader;
  readonly scan: PathScanner;
  readonly ends: EndReader | undefined;
}

/**
 * A larger document or event is still passed through, but not measured: an event that ends a stream
 * may repeat all of it, including images.
 */
export const MAX_READ_BYTES = 32 * 1024 * 1024;
/** Up to this size parsing everything is faster than searching for a few values. */
export const PARSED_BYTES = 16 * 1024;
/** A byte order mark, which any answer may begin with. */
const MARK = Buffer.from('\uFEFF');

/** Compiles the paths once for all answers of a dialect. */
export function compileReader(reader: AnswerReader): CompiledReader {
  // The last path is the whole value: it shows whether a document is complete.
  const scan = createPathScanner([...reader.paths, []]);
  return { reader, scan, ends: reader.ends && createEndReader(reader.ends) };
}

/** Creates an answer with no content yet. */
export function createAnswer(): Answer {
  return {
    usage: emptyUsage,
    model: undefined,
    terminated: false,
    failed: false,
    searches: undefined,
  };
}

/** Returns the bytes after a byte order mark. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === MARK[0] && bytes.subarray(0, MARK.length).equals(MARK)
    ? bytes.subarray(MARK.length)
    : bytes;
}

/** Reads one object; returns whether it was complete. Unreadable content is ignored. */
export function readPayload(
  answer: Answer,
  { reader, scan }: CompiledReader,
  bytes: Buffer,
): boolean {
  const isHosted = reader.hosted?.needles.some((needle) => bytes.includes(needle)) === true;
  if (bytes.length <= PARSED_BYTES || isHosted) {
    const whole = parseJson(bytes.toString('utf8'));
    if (whole === undefined) return false;
    reader.read(answer, valuesAt(whole, reader.paths));
    if (isHosted) reader.hosted?.read(answer, whole);
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

/** Returns the value at each path, undefined if there is none. */
export function valuesAt(whole: unknown, paths: readonly JsonPath[]): unknown[] {
  return paths.map((path) => valueAt(whole, path));
}

function valueAt(value: unknown, path: JsonPath): unknown {
  let current = value;
  for (const step of path) {
    if (Array.isArray(current)) current = typeof step === 'number' ? current[step] : undefined;
    else current = isObject(current) && typeof step === 'string' ? current[step] : undefined;
  }
  return current;
}

/** Returns the result of `read`, or `otherwise` if it throws. */
export function tryOr<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise; // nested too deep; the client's own parser will judge it
  }
}
