/** Collects a document and reads it once, at its end. */
import type { Usage } from '../model/usage.ts';
import { findItems } from '../wire/json-path.ts';
import {
  MAX_READ_BYTES,
  PARSED_BYTES,
  createAnswer,
  readPayload,
  tryOr,
  valuesAt,
  withoutMark,
} from './answer-reader.ts';
import type { Answer, CompiledReader } from './answer-reader.ts';
import type { UsageObserver } from '../model/dialect.ts';
import { isErrorDocument } from './error-document.ts';

/** A class: most answers are documents, and an object of closures is ten times its size. */
export class DocumentObserver implements UsageObserver {
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

  streamedTokens(): number {
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
    const isLong = this.#isEnded && bytes.length > PARSED_BYTES;
    if (!isLong || !readEnds(this.#answer, this.#compiled, bytes))
      readDocument(this.#answer, this.#compiled, bytes);
    return this.#answer;
  }
}

/** Reads the wanted values of a whole document from its two ends, if they are there. */
function readEnds(answer: Answer, { reader, ends }: CompiledReader, bytes: Buffer): boolean {
  if (reader.details?.some((needle) => bytes.includes(needle)) === true) return false;
  const values = ends?.(bytes);
  if (values === undefined) return false;
  reader.read(answer, valuesAt(values, reader.paths));
  answer.terminated = true;
  return true;
}

/** A document is one object, or a list of the objects that a stream would send as events. */
function readDocument(answer: Answer, compiled: CompiledReader, bytes: Buffer): void {
  const isWhole = readPayload(answer, compiled, bytes);
  const items = tryOr(() => findItems(bytes), []);
  for (const { start, end } of items) readPayload(answer, compiled, bytes.subarray(start, end));
  answer.terminated = isWhole;
}
