/**
 * JSON whose numbers keep their text. A tool's arguments may contain an id beyond 2^53, `1e400` or
 * `1.0`: as a double each of them becomes another number, or another type, for the tool that
 * receives it.
 */
import { createHash } from 'node:crypto';
import { ExactNumber } from './exact-number.ts';
import { isObject, parseJson } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_CHAR = /[-+.\deE]/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** As `parseJson`, with an `ExactNumber` for each number that a double would change. */
export function parseExact(text: string): unknown {
  const numbers = inexactNumbers(text);
  if (numbers.length === 0) return parseJson(text);
  // Strings replace the numbers while the text is parsed; no text can contain its own digest.
  const mark = createHash('sha256').update(text).digest('hex');
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of numbers) {
    pieces.push(text.slice(from, start), `"${mark}${text.slice(start, end)}"`);
    from = end;
  }
  pieces.push(text.slice(from));
  return withNumbers(parseJson(pieces.join('')), mark);
}

/**
 * Parses tool arguments as an object. Empty text is a call without arguments; anything but an
 * object is undefined.
 */
export function parseArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const value = parseExact(text);
  return isObject(value) ? value : undefined;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns where numbers are, outside of strings, that a double does not write unchanged. */
function inexactNumbers(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at + 1);
      continue;
    }
    if (code !== MINUS && !(code >= ZERO && code <= NINE)) {
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < text.length && NUMBER_CHAR.test(text[end]!)) end += 1;
    const number = text.slice(at, end);
    if (String(Number(number)) !== number && JSON_NUMBER.test(number)) {
      spans.push({ start: at, end });
    }
    at = end;
  }
  return spans;
}

/** Returns the position after the string whose text begins at `from`. */
function afterString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Replaces the strings that begin with `mark` by numbers, in place. */
function withNumbers(value: unknown, mark: string): unknown {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const object = value as { [key: string]: unknown };
  for (const key of Object.keys(object)) object[key] = withNumbers(object[key], mark);
  return object;
}

/**
 * As `JSON.stringify`, with each `ExactNumber` as its text. `value` is a JSON value, in which
 * members may be undefined.
 */
export function exactJson(value: unknown): string {
  return holdsExact(value) ? serialize(value) : JSON.stringify(value);
}

function holdsExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof ExactNumber) return true;
  if (Array.isArray(value)) return value.some(holdsExact);
  const object = value as { readonly [key: string]: unknown };
  for (const key in object) if (holdsExact(object[key])) return true;
  return false;
}

function serialize(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${serialize(member)}`).join(',')}}`;
}
