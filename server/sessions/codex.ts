/**
 * Session files of Codex, below `~/.codex/sessions`: a line `response_item` for each item of the
 * conversation in the responses dialect, among events. The system prompt is in `session_meta`, or
 * among the items; so are tools, if the model gets them as an item (seen with 0.169).
 */
import { countOf, isObject, listOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { emptyUsage } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { timeOf } from './session.ts';
import type { Conversation, LineReader, SessionRequest } from './session.ts';

interface Draft {
  readonly items: JsonObject[];
  readonly requests: (SessionRequest & { usage: Usage | null })[];
}

/** Members internal to Codex, which are not sent to the provider. */
const OWN = new Set(['internal_chat_message_metadata_passthrough']);

/** Reads the lines of one session of Codex. */
export class CodexReader implements LineReader {
  readonly #drafts: Draft[] = [{ items: [], requests: [] }];
  #sessionId = '';
  #instructions: string | undefined;
  #model: string | null = null;
  #isAnswering = false;
  /** When the newest item that is not a response was written. */
  #atMs: number | null = null;

  get #draft(): Draft {
    return this.#drafts.at(-1)!;
  }

  take({ type, payload, timestamp }: JsonObject): void {
    if (!isObject(payload)) return;
    if (type === 'session_meta') this.#begin(payload);
    else if (type === 'turn_context') this.#model = stringOf(payload['model']) ?? this.#model;
    else if (type === 'compacted') this.#compacted(payload);
    else if (type === 'response_item') this.#item(payload, timeOf(timestamp));
    else if (type === 'token_usage_record') this.#counted(payload['usage']);
    else if (type === 'event_msg' && payload['type'] === 'token_count' && isObject(payload['info']))
      this.#counted(payload['info']['last_token_usage']);
  }

  /** A resumed or forked session contains the earlier session's lines after its own first one. */
  #begin({ id, base_instructions: base, instructions }: JsonObject): void {
    this.#sessionId ||= stringOf(id) ?? '';
    this.#instructions ??= stringOf(isObject(base) ? base['text'] : instructions);
  }

  #item(payload: JsonObject, atMs: number | null): void {
    const item = Object.fromEntries(Object.entries(payload).filter(([name]) => !OWN.has(name)));
    const { items, requests } = this.#draft;
    if (isAnswer(item)) {
      if (!this.#isAnswering)
        requests.push({
          items: items.length,
          atMs: this.#atMs ?? atMs,
          model: this.#model,
          usage: null,
        });
      this.#isAnswering = true;
    } else {
      this.#isAnswering = false;
      this.#atMs = atMs;
    }
    items.push(item);
  }

  /**
   * From here on the client sends a summary, and the items that it kept, in place of everything
   * before.
   */
  #compacted({ message, replacement_history: kept }: JsonObject): void {
    const text = stringOf(message) ?? '';
    const summary = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
    const items = listOf(kept).filter((item) => isObject(item));
    this.#drafts.push({ items: items.length > 0 ? [...items] : [summary], requests: [] });
    this.#isAnswering = false;
  }

  /** The same usage may be written twice. */
  #counted(figures: unknown): void {
    const request = this.#draft.requests.at(-1);
    if (request?.usage === null && isObject(figures)) request.usage = usageOf(figures);
  }

  end(): readonly Conversation[] {
    return this.#drafts
      .filter(({ requests }) => requests.length > 0)
      .map(({ items, requests }) => ({
        client: 'codex',
        sessionId: this.#sessionId,
        dialect: 'responses',
        params: { model: requests[0]!.model, ...this.#systemOf(items) },
        items,
        requests,
        vendor: 'openai',
      }));
  }

  /** Some models get the instructions as the first item, which is then in the file. */
  #systemOf(items: readonly JsonObject[]): JsonObject {
    const instructions = this.#instructions;
    if (instructions === undefined) return {};
    const isItem = items.some(
      ({ role, content }) =>
        role === 'developer' &&
        listOf(content).some((part) => isObject(part) && part['text'] === instructions),
    );
    return isItem ? {} : { instructions };
  }
}

function isAnswer({ type, role }: JsonObject): boolean {
  if (type === 'message') return role === 'assistant';
  return type === 'reasoning' || (typeof type === 'string' && type.endsWith('_call'));
}

/** Input tokens include cached ones, as in the provider's usage. */
function usageOf(figures: JsonObject): Usage {
  const input = countOf(figures['input_tokens']);
  const read = countOf(figures['cached_input_tokens']);
  const written = countOf(figures['cache_write_input_tokens']);
  return {
    ...emptyUsage,
    inputTokens: input === null ? null : Math.max(0, input - (read ?? 0) - (written ?? 0)),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: countOf(figures['output_tokens']),
    reasoningTokens: countOf(figures['reasoning_output_tokens']),
  };
}
