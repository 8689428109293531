/**
 * What the session files of coding agents say, in one form for all of them: conversations as the
 * client sent them, in the shape of its dialect, and for each request how much of the conversation
 * it held, when it was sent and what the provider counted.
 */
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import type { Usage } from '../../stages/model/usage.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';

/** The clients whose files are read. */
export type SessionClient = 'claude-code' | 'codex' | 'gemini-cli' | 'opencode';

/** A request to the model. */
export interface SessionRequest {
  /** Items of the conversation that it held, from the first one on. */
  readonly items: number;
  /** When it was sent, in milliseconds since the epoch; null where the file does not say. */
  readonly atMs: number | null;
  readonly model: string | null;
  /** What the provider counted; null where the file does not say. */
  readonly usage: Usage | null;
  /** The answer as the provider sent it, where the file keeps it so. */
  readonly answer?: JsonObject;
  /** Tells it from any other; what a client copies into another file keeps it. */
  readonly id?: string;
}

/** Requests that each begin as the one before. A conversation that is compacted goes on as another one. */
export interface Conversation {
  readonly client: SessionClient;
  /** The client's own id; conversations of one session, such as those of its agents, share it. */
  readonly sessionId: string;
  readonly dialect: TranslatableDialect;
  /** The body without its items: what the file says of model, system prompt and tools. */
  readonly params: JsonObject;
  /** Messages, input items or contents, whatever the dialect calls them. */
  readonly items: readonly unknown[];
  readonly requests: readonly SessionRequest[];
  /** Whose price it is, where the file says so: `anthropic`, `openai`. */
  readonly vendor?: string;
}

/** Takes the lines of one file, in order. */
export interface LineReader {
  take(line: JsonObject): void;
  /** All conversations with at least one request. Called once, after the last line. */
  end(): readonly Conversation[];
}

/** The member of the body that holds the items. */
const ITEMS: Readonly<Record<TranslatableDialect, string>> = {
  messages: 'messages',
  chat: 'messages',
  responses: 'input',
  generative: 'contents',
};

/** The body that holds the first `count` items of a conversation. */
export function bodyOf({ params, items, dialect }: Conversation, count: number): JsonObject {
  return { ...params, [ITEMS[dialect]]: items.slice(0, count) };
}

/** Milliseconds of an ISO 8601 time; null for anything else. */
export function timeOf(value: unknown): number | null {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
