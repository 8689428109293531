/** Reads sessions of Claude Code as exchanges: each request with its response from the file. */
import { isObject } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { readSessionText } from '../sessions/read-file.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import type { ForeignExchange } from './foreign-exchange.ts';

/** Assumed `max_tokens`; not every file contains it. */
const MAX_TOKENS = 32_000;
/** Each request repeats the earlier ones; memory is limited to this. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Returns the requests of a session with their responses; undefined for another kind of file. */
export function readSession(
  text: string,
): { exchanges: ForeignExchange[]; notes: string[] } | undefined {
  const file = readSessionText(text);
  if (file === undefined) return undefined;
  const { conversations, unread } = file;
  const exchanges: ForeignExchange[] = [];
  let tooMany = 0;
  let sizeBytes = 0;
  for (const conversation of conversations) {
    for (const request of conversation.requests) {
      if (request.answer === undefined) continue;
      const exchange = toExchange(conversation, request, request.answer, exchanges.length);
      sizeBytes += exchange.body.length;
      if (sizeBytes <= MAX_BYTES) exchanges.push(exchange);
      else tooMany += 1;
    }
  }
  if (exchanges.length === 0 && conversations.some(({ client }) => client !== 'claude-code'))
    return undefined;
  const isWhole = conversations.every(({ params }) => params['system'] !== undefined);
  const notes = isWhole
    ? []
    : ['the file has neither the system prompt nor the tools of its requests'];
  if (unread > 0) notes.push(`${unread} lines that are not JSON were skipped`);
  if (tooMany > 0) notes.push(`the last ${tooMany} requests are too much for one replay`);
  return { exchanges, notes };
}

function toExchange(
  conversation: Conversation,
  { items, atMs }: SessionRequest,
  message: JsonObject,
  index: number,
) {
  const { id, model, stop_reason: stop, usage, content } = message;
  const request = { model, max_tokens: MAX_TOKENS, ...bodyOf(conversation, items) };
  const answer = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stop ?? 'end_turn',
    stop_sequence: null,
    usage: isObject(usage) ? usage : undefined,
  };
  return {
    id: `turn_${index + 1}`,
    startedMs: atMs ?? 0,
    durationMs: 0,
    method: 'POST',
    target: '/v1/messages',
    headers: [
      'content-type',
      'application/json',
      'anthropic-version',
      '2023-06-01',
      'x-api-key',
      'redacted',
    ],
    body: Buffer.from(JSON.stringify(request)),
    status: 200,
    answerHeaders: ['content-type', 'application/json'],
    answer: Buffer.from(JSON.stringify(answer)),
    client: 'claude-code',
    sessionId: conversation.sessionId === '' ? null : conversation.sessionId,
  } satisfies ForeignExchange;
}
