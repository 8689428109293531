/**
 * Reading parsed JSON whose shape nobody promised: each function answers with the
 * wanted kind or with nothing, so that the readers state what they look for and
 * never trust a field.
 */
import type { WireEvent } from '../canonical.ts';
import { exactJson, parseExact } from '../exact-json.ts';
import { ExactNumber } from '../exact-number.ts';
import { isObject, jsonTypeOf, parseJson, type JsonObject } from '../json-kind.ts';

export { exactJson, isObject, parseExact, parseJson };

/** Longer than any type, role or place that a provider names. */
const MOST_WORD_CHARS = 80;

/** `value` as an object; an empty one if it is something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects in the list `value`; none if it is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
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

/** Tool arguments as an object. No text at all is a call without arguments; anything but an object is undefined. */
export function parseArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const value = parseExact(text);
  return isObject(value) ? value : undefined;
}

/** A copy without the keys whose value is undefined, so that they do not count as present. */
export function defined(object: { readonly [key: string]: unknown }): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** `data:<type>;base64,<data>` taken apart, or undefined for any other address. */
export function parseDataUrl(url: string): { mediaType: string; data: string } | undefined {
  if (!url.startsWith('data:')) return undefined;
  const comma = url.indexOf(',');
  const declared = url.slice(5, comma);
  if (comma < 0 || !declared.endsWith(';base64')) return undefined;
  const mediaType = declared.split(';')[0]!;
  return mediaType === '' ? undefined : { mediaType, data: url.slice(comma + 1) };
}

/** An event that is named by the type of what it holds. */
export function typedEvent(payload: JsonObject & { readonly type: string }): WireEvent {
  return { event: payload.type, data: exactJson(payload) };
}
