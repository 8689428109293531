/**
 * The common form of all clients' session files: conversations as the client sent them, in the
 * shape of its dialect, and for each request the number of items, the time and the provider's
 * usage.
 */
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { listOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';

/** A request to the model. */
export interface SessionRequest {
  /** Number of leading conversation items in it. */
  readonly items: number;
  /** When it was sent, in milliseconds since the epoch; null if unknown. */
  readonly atMs: number | null;
  readonly model: string | null;
  /** The provider's usage; null if unknown. */
  readonly usage: Usage | null;
  /** The response as sent by the provider, if the file contains it. */
  readonly answer?: JsonObject;
  /** Unique id, which is kept when a client copies the request into another file. */
  readonly id?: string;
}

/** Requests that each extend the previous one. After compaction a new conversation begins. */
export interface Conversation {
  /**
   * `claude-code`, `codex`, `gemini-cli` or `opencode`; of captures whatever their requests named.
   */
  readonly client: string;
  /** The client's own id; conversations of one session, such as those of its agents, share it. */
  readonly sessionId: string;
  readonly dialect: TranslatableDialect;
  /** The body without its items: model, system prompt and tools, as far as known. */
  readonly params: JsonObject;
  /** Messages, input items or contents, depending on the dialect. */
  readonly items: readonly unknown[];
  readonly requests: readonly SessionRequest[];
  /** Vendor whose prices apply, if the file names it: `anthropic`, `openai`. */
  readonly vendor?: string;
}

/** Contents of a file. */
export interface SessionFile {
  readonly conversations: readonly Conversation[];
  /** Lines that are not JSON, or too long. */
  readonly unread: number;
}

/** Takes the lines of one file, in order. */
export interface LineReader {
  take(line: JsonObject): void;
  /** Returns all conversations with at least one request. Called once, after the last line. */
  end(): readonly Conversation[];
}

/** The member of the body that holds the items. */
const ITEMS: Readonly<Record<TranslatableDialect, string>> = {
  messages: 'messages',
  chat: 'messages',
  responses: 'input',
  generative: 'contents',
};

/** The member of a dialect's body that holds the items. */
export const itemsMember = (dialect: TranslatableDialect): string => ITEMS[dialect];

/** The items of a body; a text alone, which the responses dialect allows, is one. */
export function itemsIn(dialect: TranslatableDialect, body: JsonObject): readonly unknown[] {
  const items = body[ITEMS[dialect]];
  return typeof items === 'string' ? [{ role: 'user', content: items }] : listOf(items);
}

/** Returns the body with the first `count` items of a conversation. */
export function bodyOf({ params, items, dialect }: Conversation, count: number): JsonObject {
  return { ...params, [ITEMS[dialect]]: items.slice(0, count) };
}

/** Returns the milliseconds of an ISO 8601 time; null for anything else. */
export function timeOf(value: unknown): number | null {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
