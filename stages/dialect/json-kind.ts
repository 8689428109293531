/** Type checks for parsed JSON of unknown shape. */
import { invalidJson } from '../model/errors.ts';
import { isDeepJson } from '../wire/json-size.ts';
import { ExactNumber } from './exact-number.ts';

const BYTE_ORDER_MARK = 0xfeff;

export type JsonObject = { readonly [name: string]: unknown };

/** Returns true for a JSON object: not an array, not null, not a number that kept its text. */
export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/** Returns the value if it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string, else undefined. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns `value` as an object; an empty one if it is something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the objects in the list `value`; an empty list if it is not a list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the value if it is a non-empty string, else undefined. */
export function filledString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberOf(raw: unknown): number | undefined {
  const value = raw instanceof ExactNumber ? raw.valueOf() : raw;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** Longer than any type, role or place that a provider names. */
const MAX_WORD_CHARS = 80;

/**
 * Returns `value` as a word for a message or a key: foreign text is cut, and everything that is
 * neither text nor number becomes one word.
 */
export function wordOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_WORD_CHARS);
  if (value instanceof ExactNumber) return value.text;
  return typeof value === 'number' ? String(value) : `(${jsonTypeOf(value)})`;
}

/** Returns the strings in the list `value`, or `[value]` for a single string. */
export function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** `T` without the members that are undefined: members that can be undefined become optional. */
type Defined<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/**
 * Returns a copy without the keys whose value is undefined, so that they do not count as present.
 */
export function defined<const T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  // The filter does what the type says; the signature of `fromEntries` cannot express it.
  return Object.fromEntries(entries) as Defined<T>;
}

/**
 * More tokens than any request has; still, thousands of such counts, and their cost in
 * nano-dollars, add up exactly.
 */
const MAX_COUNT = 1e9;
const COUNT_NAME = /(?:_tokens|TokenCount)$/;

/**
 * Returns a token count: whole, from 0 to `MAX_COUNT`; null for anything else, which means
 * unmeasured.
 */
export function countOf(value: unknown): number | null {
  const count = value instanceof ExactNumber ? value.valueOf() : value;
  if (typeof count !== 'number' || !(count >= 0)) return null;
  return Math.min(Math.round(count), MAX_COUNT);
}

/**
 * Returns the `corrected` flag of `Usage` if `figures` contains a token count that `countOf` does
 * not accept.
 */
export function correctedIn(figures: JsonObject): { readonly corrected?: true } {
  return hasInvalidCount(figures) ? { corrected: true } : {};
}

function hasInvalidCount(figures: JsonObject): boolean {
  // Without lists of names and values: every answer's figures are checked.
  for (const name in figures) {
    const value = figures[name];
    if (isObject(value)) {
      for (const part in value) if (isInvalidCount(part, value[part])) return true;
    } else if (isInvalidCount(name, value)) return true;
  }
  return false;
}

/** The value first: nearly every one is valid, and then the name does not matter. */
function isInvalidCount(name: string, value: unknown): boolean {
  return typeof value === 'number' && countOf(value) !== value && COUNT_NAME.test(name);
}

/**
 * Returns JSON's own name for the type of a value; a number with a fraction is a `number`, any
 * other an `integer`.
 */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/**
 * Returns the parsed value, or undefined if the text is not JSON or is nested too deep to be walked
 * here. A byte order mark is skipped, as clients do (RFC 8259 §8.1).
 */
export function parseJson(text: string): unknown {
  const plain = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  if (isDeepJson(plain)) return undefined;
  try {
    return JSON.parse(plain);
  } catch {
    return undefined;
  }
}

/** Parses a request body. Throws `bad_request` if it is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
}
