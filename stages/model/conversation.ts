/**
 * How a conversation is recognised: its sender, its beginning as the client sent it, and the
 * client's own session id. Never anything that a stage edited, and never the billing block that
 * some clients put first and change with every request.
 */
import { shortHash } from './short-hash.ts';
import type { Block } from './block.ts';
import { KEY_FIELDS, headerValue } from './headers.ts';
import type { Headers } from './headers.ts';

/** Headers in which clients name their sessions, in lower case; the first present one counts. */
export const SESSION_FIELDS: ReadonlySet<string> = new Set([
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
]);

/** Returns the client's own session id, or undefined if it names none. */
export function clientSession(headers: Headers): string | undefined {
  for (const name of SESSION_FIELDS) {
    const value = headerValue(headers, name);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** Headers that identify a client: a provider's key, and a key of this proxy. */
const CALLER_FIELDS = [...KEY_FIELDS, 'x-svc-key'];

/**
 * Returns an id of the sender, from every credential in the request; 96 bits as 16 characters,
 * empty without credentials. One caller's requests must not affect another's, even if both send the
 * same text.
 */
export function callerOf({ headers, target }: Sender): string {
  const parts: string[] = [];
  for (const name of CALLER_FIELDS) {
    const value = headerValue(headers, name);
    if (value !== undefined && value !== '') parts.push(`\0${name}\0`, value);
  }
  const query = /[?&]key=([^&]+)/.exec(target)?.[1];
  if (query !== undefined) parts.push('\0key\0', query);
  return parts.length === 0 ? '' : shortHash(parts);
}

/**
 * Returns true for the block with a client's billing line; it differs in every request of a
 * conversation.
 */
export function isBillingBlock(block: Block): boolean {
  return block.kind === 'system' && block.text.startsWith('x-anthropic-billing-header:');
}

/** Returns 96 bits as 16 characters, equal for all requests of a conversation. */
export function conversationId({
  original,
}: {
  readonly original: { readonly conversation: () => string };
}): string {
  return original.conversation();
}

/**
 * Returns an id of a conversation's beginning, independent of the sender, computed at each call:
 * from its blocks up to the model's first answer, which are in every request of the conversation.
 */
export function hashOfBeginning(original: {
  readonly body: Pick<Sender, 'headers'>;
  readonly blocks: () => readonly Block[];
}): string {
  const parts = [clientSession(original.body.headers) ?? ''];
  for (const { role, text } of headOf(original.blocks()).naming) parts.push(`\0${role}\0`, text);
  return shortHash(parts);
}

/**
 * Returns the id of the conversation of `caller` with this beginning; for a request without
 * credentials, the beginning alone decides.
 */
export function hashOfConversation(caller: string, beginning: string): string {
  return caller === '' ? beginning : shortHash([caller, beginning]);
}

/** The parts of a request that may contain a credential. */
interface Sender {
  readonly headers: Headers;
  /** Path and query. */
  readonly target: string;
}

/** The blocks before the model's first answer. */
export interface Head {
  /** How many there are. */
  readonly length: number;
  /** Number of characters of `naming`. */
  readonly chars: number;
  /** Those that the conversation's id is made of, in order. */
  readonly naming: ReadonlySet<Block>;
}

export function headOf(blocks: readonly Block[]): Head {
  const naming = new Set<Block>();
  let chars = 0;
  let firstUser: number | undefined;
  for (const block of blocks) {
    const { role, message, index } = block;
    if (role === 'assistant') return { length: index, chars, naming };
    if (isBillingBlock(block)) continue;
    if (role === 'user') firstUser ??= message;
    // Before the first answer, later user messages may still be appended to the first.
    if (role === 'user' && message !== firstUser) continue;
    naming.add(block);
    chars += block.text.length;
  }
  return { length: blocks.length, chars, naming };
}

/** A request's position in its conversation. */
export interface Turn {
  /** Id of the conversation; 96 bits as 16 characters. */
  readonly conversation: string;
  /** True from a conversation's second request on. */
  readonly goesOn: boolean;
  /**
   * True if its pauses mostly outlast the cache, so that cache writes would cost more than cache
   * reads save.
   */
  readonly isSlow: boolean;
  /**
   * Milliseconds since any request with the same beginning was sent, whichever run of it; null if
   * unknown.
   */
  readonly pauseMs: number | null;
}
