/**
 * Finds the ends of JSON values without parsing them. The text is assumed to be valid JSON: callers
 * that need that checked have parsed it already.
 */
import { SvcError } from '../../engine/index.ts';

/** Deeper nesting is rejected: no client sends it, and parsers elsewhere overflow on it. */
export const MAX_DEPTH = 128;

/** A native search costs about as much as scanning this many bytes. */
const WALKED_BYTES = 24;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/**
 * Returns the index after the value at `at`, which is `outerDepth` levels deep, or -1 if it is cut
 * off. Iterative: depth costs no stack. Throws `bad_request` beyond `maxDepth` levels.
 */
export function skipValue(
  bytes: Buffer,
  at: number,
  limit: number,
  outerDepth: number,
  maxDepth = MAX_DEPTH,
): number {
  let depth = outerDepth;
  let i = at;
  while (i < limit) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      i = skipString(bytes, i, limit);
      if (i < 0) return -1;
      if (depth === outerDepth) return i;
      continue;
    }
    i += 1;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > maxDepth) throw tooDeep();
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (depth === outerDepth) return -1;
      depth -= 1;
      if (depth === outerDepth) return i;
    } else if (depth === outerDepth) {
      return skipScalar(bytes, i, limit);
    }
  }
  return -1;
}

/** Returns the index after a number, `true`, `false` or `null` that began before `at`. */
function skipScalar(bytes: Buffer, at: number, limit: number): number {
  let i = at;
  while (i < limit && !endsScalar(bytes[i]!)) i += 1;
  return i;
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= 0x20;
}

/**
 * Returns the index after the string whose opening quote is at `at`, or -1. A first stretch is
 * scanned; beyond it the native search is faster, unless the text is full of escaped quotes, so
 * scanning restarts after each one.
 */
export function skipString(bytes: Buffer, at: number, limit: number): number {
  let i = at + 1;
  while (i < limit) {
    const near = Math.min(limit, i + WALKED_BYTES);
    while (i < near) {
      const byte = bytes[i];
      if (byte === QUOTE) return i + 1;
      i += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, i);
    if (quote < 0 || quote >= limit) return -1;
    let escapes = 0;
    while (quote - 1 - escapes >= i && bytes[quote - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
    i = quote + 1;
  }
  return -1;
}

/**
 * Calls `endOf` with the start of each item of the array that opens at `open`; it returns the index
 * after the item, or -1 to stop. Returns the index after the array, or -1 if it is cut off.
 */
export function skipItems(
  bytes: Buffer,
  open: number,
  limit: number,
  endOf: (start: number, index: number) => number,
): number {
  let at = skipSpace(bytes, open + 1, limit);
  for (let index = 0; at < limit && bytes[at] !== CLOSE_ARRAY; index += 1) {
    at = endOf(at, index);
    if (at < 0) return -1;
    at = skipSpace(bytes, at, limit);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, limit);
    else if (bytes[at] !== CLOSE_ARRAY) return -1;
  }
  return at < limit ? at + 1 : -1;
}

/** The same for the members of an object, whose names are in `bytes[nameStart, nameEnd)`. */
export function skipMembers(
  bytes: Buffer,
  open: number,
  limit: number,
  endOf: (start: number, nameStart: number, nameEnd: number) => number,
): number {
  let at = skipSpace(bytes, open + 1, limit);
  while (at < limit && bytes[at] === QUOTE) {
    const quote = at;
    const nameEnd = skipString(bytes, quote, limit);
    if (nameEnd < 0) return -1;
    at = skipSpace(bytes, nameEnd, limit);
    if (bytes[at] !== COLON) return -1;
    at = endOf(skipSpace(bytes, at + 1, limit), quote + 1, nameEnd - 1);
    if (at < 0) return -1;
    at = skipSpace(bytes, at, limit);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, limit);
  }
  return at < limit && bytes[at] === CLOSE_OBJECT ? at + 1 : -1;
}

/** Returns the index of the first non-space byte from `at` on. */
export function skipSpace(bytes: Buffer, at: number, limit: number): number {
  let i = at;
  while (i < limit && bytes[i]! <= 0x20) i += 1;
  return i;
}

export function tooDeep(): SvcError {
  return new SvcError('bad_request', `The JSON body nests deeper than ${MAX_DEPTH} levels`);
}
