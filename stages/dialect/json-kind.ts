/** Looks at parsed JSON whose shape nobody has promised. */
import { isDeepJson } from '../wire/json-size.ts';

const BYTE_ORDER_MARK = 0xfeff;

export type JsonObject = { readonly [name: string]: unknown };

/** True for a JSON object: not an array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a string, else undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value if it is a number, else null, which is how an unmeasured count is written. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
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
