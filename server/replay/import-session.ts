/**
 * Session files of Claude Code: a line of JSON for each message, below ~/.claude/projects. They
 * hold neither system prompt nor tool definitions, so that a request made of one has none: what
 * compression does to the conversation shows all the same.
 */
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import type { ForeignExchange } from './foreign.ts';

/** What the client asks for; the file does not say. */
const MAX_TOKENS = 32_000;
/** Each request repeats all before it; more than this is not held in memory. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Answers that the client made up itself. */
const NO_MODEL = '<synthetic>';

interface Answer {
  readonly message: JsonObject;
  readonly line: JsonObject;
  readonly content: unknown[];
}

/** The requests of a session, with the answers that it holds; undefined for a file of another kind. */
export function readSession(
  text: string,
): { exchanges: ForeignExchange[]; notes: string[] } | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const exchanges: ForeignExchange[] = [];
  let messages: unknown[] = [];
  let answer: Answer | undefined;
  let known = 0;
  let unread = 0;
  let tooMany = 0;
  let sizeBytes = 0;
  const settle = (): void => {
    if (answer === undefined) return;
    const exchange = toExchange(answer, messages, exchanges.length + tooMany);
    sizeBytes += exchange.body.length;
    if (sizeBytes <= MOST_BYTES) exchanges.push(exchange);
    else tooMany += 1;
    messages = [...messages, { role: 'assistant', content: answer.content }];
    answer = undefined;
  };
  for (const each of lines) {
    const line = parseJson(each);
    if (!isObject(line) || typeof line['type'] !== 'string') {
      unread += 1;
      continue;
    }
    const { message } = line;
    // Another agent's conversation, begun by a tool of this one.
    if (!isObject(message) || line['isSidechain'] === true) continue;
    known += 1;
    if (message['role'] === 'assistant') {
      if (message['model'] === NO_MODEL) continue;
      const content = Array.isArray(message['content']) ? (message['content'] as unknown[]) : [];
      // Each block of an answer has a line of its own.
      if (answer?.message['id'] === message['id'] && answer?.message['id'] !== undefined)
        answer.content.push(...content);
      else {
        settle();
        answer = { message, line, content: [...content] };
      }
    } else {
      settle();
      const { role, content } = message;
      // From here on the client sends a summary in place of what stood before.
      messages =
        line['isCompactSummary'] === true ? [{ role, content }] : [...messages, { role, content }];
    }
  }
  settle();
  if (known === 0) return undefined;
  const notes = ['the file has neither the system prompt nor the tools of its requests'];
  if (unread > 0) notes.push(`${unread} lines that are no JSON were left out`);
  if (tooMany > 0) notes.push(`the last ${tooMany} requests are too much for one replay`);
  return { exchanges, notes };
}

function toExchange({ message, line, content }: Answer, messages: unknown[], index: number) {
  const { id, model, stop_reason: stop, usage } = message;
  const startedMs = Date.parse(String(line['timestamp']));
  const request = { model, max_tokens: MAX_TOKENS, messages };
  const answer = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stop ?? 'end_turn',
    stop_sequence: null,
    usage,
  };
  const sessionId = line['sessionId'];
  return {
    id: `turn_${index + 1}`,
    startedMs: Number.isNaN(startedMs) ? 0 : startedMs,
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
    sessionId: typeof sessionId === 'string' ? sessionId : null,
  } satisfies ForeignExchange;
}
