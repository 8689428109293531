/** Looks at parsed JSON whose shape nobody has promised. */
import { invalidJson } from '../model/errors.ts';
import { isDeepJson } from '../wire/json-size.ts';
import { ExactNumber } from './exact-number.ts';

const BYTE_ORDER_MARK = 0xfeff;

export type JsonObject = { readonly [name: string]: unknown };

/** True for a JSON object: not an array, not null, not a number that kept its text. */
export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/** The value if it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a string, else undefined. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `value` as an object; an empty one if it is something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects in the list `value`; none if it is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A string with something in it. */
export function filledString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberOf(given: unknown): number | undefined {
  const value = given instanceof ExactNumber ? given.valueOf() : given;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** Longer than any type, role or place that a provider names. */
const MOST_WORD_CHARS = 80;

/** `value` as a word of a message or a key: foreign text is cut, and whatever is no text or number has one name. */
export function wordOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MOST_WORD_CHARS);
  if (value instanceof ExactNumber) return value.text;
  return typeof value === 'number' ? String(value) : `(${jsonTypeOf(value)})`;
}

/** The strings in the list `value`, or `[value]` if it is one string. */
export function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** `T` without the members that are undefined: what may be is optional in it. */
type Defined<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** A copy without the keys whose value is undefined, so that they do not count as present. */
export function defined<const T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  // What the filter does is what the type says; neither is known to the signature of `fromEntries`.
  return Object.fromEntries(entries) as Defined<T>;
}

/** More tokens than any request has, yet thousands of them, and what they cost in nano-dollars, add up exactly. */
const MAX_COUNT = 1e9;
const COUNT_NAME = /(?:_tokens|TokenCount)$/;

/** A token count: whole, from 0 to `MAX_COUNT`; null for what is no count, which is how an unmeasured one is written. */
export function countOf(value: unknown): number | null {
  const count = value instanceof ExactNumber ? value.valueOf() : value;
  if (typeof count !== 'number' || !(count >= 0)) return null;
  return Math.min(Math.round(count), MAX_COUNT);
}

/** What `Usage` says of `figures` in which a token count is not as `countOf` reads it. */
export function correctedIn(figures: JsonObject): { readonly corrected?: true } {
  return hasOddCount(figures) ? { corrected: true } : {};
}

function hasOddCount(figures: JsonObject): boolean {
  // Without lists of names and values: every answer has its figures looked at.
  for (const name in figures) {
    const value = figures[name];
    if (isObject(value)) {
      for (const part in value) if (isOddCount(part, value[part])) return true;
    } else if (isOddCount(name, value)) return true;
  }
  return false;
}

/** The value first: nearly every one is as it should be, and then the name does not matter. */
function isOddCount(name: string, value: unknown): boolean {
  return typeof value === 'number' && countOf(value) !== value && COUNT_NAME.test(name);
}

/** JSON's own word for the type of a value; a number with a fraction is a `number`, another an `integer`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/**
 * The parsed value, or undefined if the text is not JSON or nests deeper than anything that may be
 * walked here. A byte order mark is passed over, as clients do (RFC 8259 §8.1).
 */
export function parseJson(text: string): unknown {
  if (isDeepJson(text)) return undefined;
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** The value of a body that was sent to us. Throws `bad_request` for what is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
}
