/**
 * The requests that newer versions of Claude Code record alongside the messages. A line
 * `api-request-shape` holds system prompt and tools, `api-request-blob` a message under a hash, and
 * `api-request` refers to both: how many messages it keeps of the request that it continues
 * (`base`), and the hashes of those after them. A hash is the SHA-256 of the message's JSON with
 * sorted keys. Responses have no blob: their hash first appears in the next request; nor have
 * messages that were sent exactly as in a line of their own (seen with 2.1.332).
 */
import { createHash } from 'node:crypto';
import { isObject, listOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { timeOf } from './session.ts';

/** A response, each block of which has a line of its own. */
export interface Answer {
  message: JsonObject;
  readonly content: unknown[];
  /** The request that it answers, if the file names it. */
  readonly request: string | undefined;
}

interface SentRequest {
  readonly shape: string;
  readonly params: JsonObject;
  readonly base: string | undefined;
  readonly keep: number;
  readonly tail: readonly string[];
  readonly atMs: number | null;
}

/** A conversation as it was sent. */
export interface SentConversation {
  readonly params: JsonObject;
  readonly items: readonly unknown[];
  readonly requests: readonly {
    readonly items: number;
    readonly atMs: number | null;
    readonly answer: Answer;
  }[];
}

interface Draft {
  readonly shape: string;
  readonly params: JsonObject;
  readonly items: unknown[];
  readonly requests: { items: number; atMs: number | null; answer: Answer }[];
}

export class SentRequests {
  readonly #shapes = new Map<string, JsonObject>();
  readonly #messages = new Map<string, unknown>();
  readonly #sent = new Map<string, SentRequest>();
  /** Messages with a line of their own, until a hash lookup needs them. */
  #written: { readonly role: unknown; readonly content: unknown }[] = [];

  /** Takes a line; true if it is one of these types. */
  take(line: JsonObject): boolean {
    const { type, shape, message, params } = line;
    const hash = stringOf(line['hash']) ?? stringOf(line['shapeHash']) ?? '';
    if (type === 'api-request-shape' && isObject(shape)) this.#shapes.set(hash, shape);
    else if (type === 'api-request-blob') this.#messages.set(hash, message);
    else if (type === 'api-request' && typeof line['id'] === 'string') {
      this.#sent.set(line['id'], {
        shape: hash,
        params: isObject(params) ? params : {},
        base: stringOf(line['base']),
        keep: Number(line['keep'] ?? 0),
        tail: listOf(line['tail']).map(String),
        atMs: timeOf(line['timestamp']),
      });
    } else {
      if (type === 'user' && isObject(message))
        this.#written.push({ role: message['role'], content: message['content'] });
      return false;
    }
    return true;
  }

  /**
   * Returns the conversations that `answers` belong to; undefined unless all their requests are
   * complete, word for word.
   */
  conversations(answers: readonly Answer[]): readonly SentConversation[] | undefined {
    const byRequest = new Map(answers.map((answer) => [answer.request ?? '', answer]));
    if (this.#sent.size === 0 || answers.some(({ request }) => !this.#sent.has(request ?? '')))
      return undefined;
    const drafts = new Map<string, Draft>();
    const found = new Set<Draft>();
    for (const [id, sent] of this.#sent) {
      const answer = byRequest.get(id);
      // The provider refused it, or it is a request of the client's own.
      if (answer === undefined) continue;
      const draft = this.#follow(sent, drafts, byRequest);
      if (draft === undefined) return undefined;
      draft.requests.push({ items: draft.items.length, atMs: sent.atMs, answer });
      drafts.set(id, draft);
      found.add(draft);
    }
    return [...found];
  }

  /** True if a message with this hash is known, including as a line of its own. */
  #has(hash: string): boolean {
    if (this.#messages.has(hash)) return true;
    for (const message of this.#written) this.#messages.set(hashOf(message), message);
    this.#written = [];
    return this.#messages.has(hash);
  }

  /**
   * Returns the conversation that a request continues, with its messages appended; undefined if one
   * is missing.
   */
  #follow(
    { shape, params, base, keep, tail }: SentRequest,
    drafts: ReadonlyMap<string, Draft>,
    answers: ReadonlyMap<string, Answer>,
  ): Draft | undefined {
    const before = base === undefined ? undefined : drafts.get(base);
    if (before === undefined && keep > 0) return undefined;
    let answer = answers.get(base ?? '');
    for (const hash of tail) {
      if (this.#has(hash)) continue;
      if (answer === undefined) return undefined;
      this.#messages.set(hash, { role: 'assistant', content: answer.content });
      answer = undefined;
    }
    const continuesDraft =
      before !== undefined && keep === before.items.length && before.shape === shape;
    const draft = continuesDraft
      ? before
      : {
          shape,
          params: { ...paramsOf(params), ...this.#shapes.get(shape) },
          items: before?.items.slice(0, keep) ?? [],
          requests: [],
        };
    draft.items.push(...tail.map((hash) => this.#messages.get(hash)));
    return draft;
  }
}

/** Returns the parameters about context management and output. */
function paramsOf({ model, max_tokens, thinking, context_management }: JsonObject): JsonObject {
  return {
    model,
    max_tokens,
    ...(thinking === undefined ? {} : { thinking }),
    ...(context_management === undefined ? {} : { context_management }),
  };
}

function hashOf(message: unknown): string {
  const json = JSON.stringify(message, (_, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(json).digest('hex');
}
