/**
 * Session files of Gemini CLI, below `~/.gemini/tmp/<project>/chats`: one line per message, and
 * lines `$set` that change the head or replace all messages (seen with 2026's versions); in older
 * versions, one document with a list of messages. They contain neither system prompt nor tools.
 */
import { countOf, isObject, listOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { emptyUsage } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { timeOf } from './session.ts';
import type { Conversation, LineReader, SessionRequest } from './session.ts';

/** Reads the lines of one session of Gemini CLI. */
export class GeminiReader implements LineReader {
  #sessionId = '';
  /** By id: a message is written again when more of it is known. */
  #messages = new Map<string, JsonObject>();
  readonly #before: Map<string, JsonObject>[] = [];

  take(line: JsonObject): void {
    const { $set: change, $rewindTo: rewind } = line;
    if (typeof rewind === 'string') this.#rewind(rewind);
    else if (isObject(change)) this.#change(change);
    else if (typeof line['type'] === 'string' && typeof line['id'] === 'string')
      this.#messages.set(line['id'], line);
    else this.#change(line);
  }

  #change({ sessionId, messages }: JsonObject): void {
    this.#sessionId ||= stringOf(sessionId) ?? '';
    if (!Array.isArray(messages)) return;
    if (this.#messages.size > 0) this.#before.push(this.#messages);
    this.#messages = new Map();
    for (const message of messages)
      if (isObject(message)) this.#messages.set(String(message['id']), message);
  }

  /** The user went back; requests since then were still sent. */
  #rewind(id: string): void {
    this.#before.push(this.#messages);
    const ids = [...this.#messages.keys()];
    const end = ids.indexOf(id);
    this.#messages = new Map([...this.#messages].slice(0, Math.max(0, end)));
  }

  end(): readonly Conversation[] {
    const counted = new Set<string>();
    return [...this.#before, this.#messages].flatMap((messages) => {
      const { items, requests } = toConversation(messages.values(), counted);
      if (requests.length === 0) return [];
      const sessionId = this.#sessionId;
      return [
        {
          client: 'gemini-cli',
          sessionId,
          dialect: 'generative',
          params: {},
          items,
          requests,
          vendor: 'google',
        } as const,
      ];
    });
  }
}

/**
 * Returns contents and requests; responses in `counted` already belong to requests of another
 * conversation.
 */
function toConversation(messages: Iterable<JsonObject>, counted: Set<string>) {
  const items: { role: string; parts: unknown[] }[] = [];
  const requests: SessionRequest[] = [];
  let unanswered: unknown[] = [];
  let atMs: number | null = null;
  const addMessage = (role: string, parts: readonly unknown[]): void => {
    const last = items.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) items.push({ role, parts: [...parts] });
  };
  /** Older versions keep results only in the call. */
  const answer = (): void => {
    addMessage('user', unanswered);
    unanswered = [];
  };
  for (const message of messages) {
    const { type, content } = message;
    if (type === 'user') {
      const parts = partsOf(content);
      if (parts.some((part) => isObject(part) && isObject(part['functionResponse'])))
        unanswered = [];
      answer();
      addMessage('user', parts);
      atMs = timeOf(message['timestamp']);
    } else if (type === 'gemini') {
      answer();
      const id = String(message['id']);
      const calls = listOf(message['toolCalls']).filter((call) => isObject(call));
      if (!counted.has(id) && items.length > 0) {
        const model = stringOf(message['model']) ?? null;
        const usage = usageOf(message['tokens']);
        requests.push({
          items: items.length,
          atMs: atMs ?? timeOf(message['timestamp']),
          model,
          usage,
        });
      }
      counted.add(id);
      const named = calls.map(({ id: callId, name, args }) => ({
        functionCall: { id: callId, name, args },
      }));
      addMessage('model', [...partsOf(content), ...named]);
      unanswered = calls.flatMap(({ result }) => listOf(result));
    }
  }
  return { items, requests };
}

function partsOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return listOf(content).map((part) => (typeof part === 'string' ? { text: part } : part));
}

/** Input tokens include cached ones, as in the provider's usage. */
function usageOf(figures: unknown): Usage | null {
  if (!isObject(figures)) return null;
  const input = countOf(figures['input']);
  const read = countOf(figures['cached']);
  const thoughts = countOf(figures['thoughts']);
  const output = countOf(figures['output']);
  return {
    ...emptyUsage,
    inputTokens: input === null ? null : Math.max(0, input - (read ?? 0)),
    cacheReadTokens: read,
    outputTokens: output === null ? null : output + (thoughts ?? 0),
    reasoningTokens: thoughts,
  };
}
