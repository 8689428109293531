/**
 * How deep and how large a JSON text is, found before anybody parses or walks it. The work is
 * iterative, so no nesting costs stack. The text need not be valid.
 */
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  MAX_DEPTH,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipString,
} from './json-skip.ts';

/**
 * More values than this in one body are read by nobody here: parsing and walking them would hold
 * up every other request for hundreds of milliseconds. Long agent sessions have some 20,000.
 */
const MAX_VALUES = 60_000;
/** The same for the members of one object: the runtime parses those of a large one far more slowly. */
const MAX_MEMBERS = 20_000;

/**
 * - `fine`: it may be parsed and walked, also by recursion.
 * - `deep`: it nests deeper than `MAX_DEPTH` levels.
 * - `large`: it has more values than may be walked at once. What comes behind was not looked at.
 */
export type JsonSize = 'fine' | 'deep' | 'large';

/** Looks at `bytes` once; some 0.1 ms for 100 kB. */
export function sizeOfJson(bytes: Buffer): JsonSize {
  const limit = bytes.length;
  /** Members of the object that is open at each depth; of an array, minus infinity. */
  const members: number[] = [0];
  let depth = 0;
  let values = 0;
  let at = 0;
  while (at < limit) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = skipString(bytes, at, limit);
      if (at < 0) return 'fine';
      continue;
    }
    at += 1;
    if (byte === COMMA) {
      values += 1;
      if (values > MAX_VALUES || ++members[depth]! > MAX_MEMBERS) return 'large';
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      values += 1;
      depth += 1;
      if (depth > MAX_DEPTH) return 'deep';
      members[depth] = byte === OPEN_OBJECT ? 1 : -Infinity;
    } else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && depth > 0) {
      depth -= 1;
    }
  }
  return 'fine';
}

/** A text that nests deeper than `MAX_DEPTH` has at least so many characters. */
const DEEP_CHARS = 2 * MAX_DEPTH;

/** True if the JSON in `text` nests deeper than `MAX_DEPTH` levels. */
export function isDeepJson(text: string): boolean {
  if (text.length <= DEEP_CHARS) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (isString) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) isString = false;
    } else if (char === QUOTE) {
      isString = true;
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      depth -= 1;
    }
  }
  return false;
}
