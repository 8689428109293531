/**
 * What an adapter needs to know about a dialect: where requests go, which fields they need, and
 * where responses and events have theirs.
 */
import { isObject } from './errors.ts';
import type { EventPosition, JsonObject } from './transport.ts';

/** Token usage of a response; null if it is not reported. */
export interface TokenCounts {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
}

/** A message of a conversation. */
export interface ChatTurn {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

export interface WireDialect {
  readonly name: 'messages' | 'chat';
  readonly path: string;
  /** Returns the headers with the key and the dialect's version. */
  headers(apiKey: string): Readonly<Record<string, string>>;
  /** Checks requirements of this dialect. Throws `SvcConfigError`. */
  prepare(request: JsonObject): JsonObject;
  isAnswer(response: JsonObject): boolean;
  tokensOf(response: JsonObject): TokenCounts;
  positionOf(event: JsonObject): EventPosition;
  /** Returns the text that an event adds; '' for none. */
  textOf(event: JsonObject): string;
}

/** Returns a field that is an object; otherwise an empty object. */
export function objectAt(value: unknown, field: string): JsonObject {
  const inner = isObject(value) ? value[field] : undefined;
  return isObject(inner) ? inner : {};
}

/** Returns a token count; null if there is none. */
export function countAt(usage: JsonObject, field: string): number | null {
  const value = usage[field];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
