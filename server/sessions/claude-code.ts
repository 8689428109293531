/**
 * Session files of Claude Code, below `~/.claude/projects`: one JSON line per message. Those of
 * older versions contain neither system prompt nor tools; newer ones (seen with 2.1.330) also
 * contain the requests as sent, see `claude-code-requests.ts`.
 */
import { isObject, listOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { SentRequests } from './claude-code-requests.ts';
import type { Answer, SentConversation } from './claude-code-requests.ts';
import { timeOf } from './session.ts';
import type { Conversation, LineReader } from './session.ts';

/** Responses that the client made up itself. */
const NO_MODEL = '<synthetic>';

interface Draft {
  readonly items: unknown[];
  readonly requests: { items: number; atMs: number | null; answer: Answer }[];
  /** When the newest item was written. */
  atMs: number | null;
}

/** Reads the lines of one session of Claude Code. */
export class ClaudeCodeReader implements LineReader {
  readonly #drafts: Draft[] = [];
  #main: Draft;
  /** Conversations of agents started by this session, by the id of each of their lines. */
  readonly #agents = new Map<string, Draft>();
  readonly #answers = new Map<string, Answer>();
  readonly #sent = new SentRequests();
  #sessionId = '';

  constructor() {
    this.#main = this.#begin();
  }

  take(line: JsonObject): void {
    this.#sessionId ||= stringOf(line['sessionId']) ?? '';
    if (this.#sent.take(line)) return;
    const { message } = line;
    if (!isObject(message) || (line['type'] !== 'user' && line['type'] !== 'assistant')) return;
    const draft = this.#draftOf(line);
    if (message['role'] === 'assistant') this.#answered(draft, message, line);
    else this.#asked(draft, message, line);
  }

  #begin(): Draft {
    const draft: Draft = { items: [], requests: [], atMs: null };
    this.#drafts.push(draft);
    return draft;
  }

  #draftOf(line: JsonObject): Draft {
    if (line['isSidechain'] !== true) return this.#main;
    const parent = stringOf(line['parentUuid']);
    const draft = (parent === undefined ? undefined : this.#agents.get(parent)) ?? this.#begin();
    const own = stringOf(line['uuid']);
    if (own !== undefined) this.#agents.set(own, draft);
    return draft;
  }

  #asked(draft: Draft, { role, content }: JsonObject, line: JsonObject): void {
    let own = draft;
    // From here on the client sends a summary in place of everything before.
    if (line['isCompactSummary'] === true && draft === this.#main) own = this.#main = this.#begin();
    own.items.push({ role, content });
    own.atMs = timeOf(line['timestamp']);
  }

  #answered(draft: Draft, message: JsonObject, line: JsonObject): void {
    if (message['model'] === NO_MODEL) return;
    const content = listOf(message['content']);
    const id = stringOf(message['id']);
    const known = id === undefined ? undefined : this.#answers.get(id);
    if (known !== undefined) {
      known.content.push(...content);
      known.message = message;
      return;
    }
    const answer = { message, content: [...content], request: stringOf(line['requestRef']) };
    if (id !== undefined) this.#answers.set(id, answer);
    const atMs = draft.atMs ?? timeOf(line['timestamp']);
    draft.requests.push({ items: draft.items.length, atMs, answer });
    draft.items.push({ role: 'assistant', content: answer.content });
  }

  end(): readonly Conversation[] {
    const answers = this.#drafts.flatMap(({ requests }) => requests.map(({ answer }) => answer));
    const sent = this.#sent.conversations(answers);
    if (sent !== undefined) return sent.map((conversation) => this.#conversation(conversation));
    return this.#drafts
      .filter(({ requests }) => requests.length > 0)
      .map((draft) => {
        const params = { model: modelOf(draft.requests[0]!.answer) };
        return this.#conversation({ ...draft, params });
      });
  }

  #conversation({ params, items, requests: answered }: SentConversation): Conversation {
    return {
      client: 'claude-code',
      sessionId: this.#sessionId,
      dialect: 'messages',
      params,
      items,
      requests: answered.map(({ answer, ...rest }) => ({ ...rest, ...figuresOf(answer) })),
      vendor: 'anthropic',
    };
  }
}

const modelOf = ({ message }: Answer): string | null => stringOf(message['model']) ?? null;

function figuresOf(given: Answer) {
  const { message, content } = given;
  const answer = { ...message, content };
  const id = stringOf(message['id']);
  const model = modelOf(given);
  return { model, usage: usageOf(message), answer, ...(id === undefined ? {} : { id }) };
}

function usageOf(message: JsonObject): Usage | null {
  if (!isObject(message['usage'])) return null;
  const observer = dialects.messages.observeUsage(false);
  observer.push(Buffer.from(JSON.stringify({ ...message, content: [] })));
  observer.ended?.();
  return observer.usage();
}
