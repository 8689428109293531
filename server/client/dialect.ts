/**
 * What an adapter knows of a dialect: where a request goes, what it needs, and where an answer
 * or an event says what.
 */
import { isObject } from './errors.ts';
import type { EventPosition, JsonObject } from './transport.ts';

/** What an answer used, in tokens; null where the answer does not say. */
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
  /** The headers that carry the key and the dialect's version. */
  headers(apiKey: string): Readonly<Record<string, string>>;
  /** Checks what this dialect alone wants. Throws `SvcConfigError`. */
  prepare(request: JsonObject): JsonObject;
  isAnswer(response: JsonObject): boolean;
  tokensOf(response: JsonObject): TokenCounts;
  positionOf(event: JsonObject): EventPosition;
  /** The text that an event adds to the answer; '' for none. */
  textOf(event: JsonObject): string;
}

/** A field of an object, where it is an object itself; an empty one else. */
export function objectAt(value: unknown, field: string): JsonObject {
  const inner = isObject(value) ? value[field] : undefined;
  return isObject(inner) ? inner : {};
}

/** A count of tokens, null where there is none. */
export function countAt(usage: JsonObject, field: string): number | null {
  const value = usage[field];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
