/**
 * What a conversation is recognised by: who sends it, its beginning as the client sent it, and
 * the client's own session id. Never anything that a stage edited, and never the
 * billing block that some clients put first and change at every request.
 */
import { shortHash } from './short-hash.ts';
import type { Block } from './block.ts';
import { KEY_FIELDS, headerValue } from './headers.ts';
import type { Headers } from './headers.ts';

/** The header fields in which clients name their sessions, in lower case; the first that is there counts. */
export const SESSION_FIELDS: ReadonlySet<string> = new Set([
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
]);

/** The client's own session id, or undefined if it names none. */
export function clientSession(headers: Headers): string | undefined {
  for (const name of SESSION_FIELDS) {
    const value = headerValue(headers, name);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** Fields by which a client says who it is: a provider's key, and a key of this proxy. */
const CALLER_FIELDS = [...KEY_FIELDS, 'x-svc-key'];

/**
 * Names who sends a request, by every credential in it; 96 bits as 16 characters, empty where there is
 * none. What one caller asks for must not change what another one sends, though both send the same text.
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

/** The block that carries a client's billing line; it differs in every request of a conversation. */
export function isBillingBlock(block: Block): boolean {
  return block.kind === 'system' && block.text.startsWith('x-anthropic-billing-header:');
}

/** 96 bits, as 16 characters; equal for all requests of a conversation. */
export function conversationId({
  original,
}: {
  readonly original: { readonly conversation: () => string };
}): string {
  return original.conversation();
}

/**
 * Names how a conversation begins, whoever sends it, computed at each call: from its blocks up to the first
 * answer of the model, which are in every request of the conversation.
 */
export function hashOfBeginning(original: {
  readonly body: Pick<Sender, 'headers'>;
  readonly blocks: () => readonly Block[];
}): string {
  const parts = [clientSession(original.body.headers) ?? ''];
  const isNaming = createNaming();
  for (const block of original.blocks()) {
    if (block.role === 'assistant') break;
    if (isNaming(block)) parts.push(`\0${block.role}\0`, block.text);
  }
  return shortHash(parts);
}

/** Names the conversation of `body` that begins so: for a request without any credential, by its beginning alone. */
export function hashOfConversation(body: Sender, beginning: string): string {
  const caller = callerOf(body);
  return caller === '' ? beginning : shortHash([caller, beginning]);
}

/** The parts of a request in which a credential may stand. */
interface Sender {
  readonly headers: Headers;
  /** Path and query. */
  readonly target: string;
}

/** Tells, of the blocks in their order, which the conversation's name is made of. */
export function createNaming(): (block: Block) => boolean {
  let isAnswered = false;
  let firstUser: number | null | undefined;
  return (block) => {
    isAnswered ||= block.role === 'assistant';
    if (isAnswered || isBillingBlock(block)) return false;
    if (block.role !== 'user') return true;
    firstUser ??= block.message;
    // While nothing has been answered yet, later user messages may still be added to the first.
    return block.message === firstUser;
  };
}

/** What a request is to its conversation. */
export interface Turn {
  /** Names the conversation; 96 bits as 16 characters. */
  readonly conversation: string;
  /** True from a conversation's second request on. */
  readonly goesOn: boolean;
  /** True where its pauses mostly outlast the cache, so that writing would cost more than reading saves. */
  readonly isSlow: boolean;
  /** Milliseconds since any request with the same beginning was sent, whichever run of it; null where none is known. */
  readonly pauseMs: number | null;
}
