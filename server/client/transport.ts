/**
 * POSTs to the proxy, for a whole JSON response or a stream of events. Every failure is thrown as
 * an adapter error.
 */
import { createParser } from 'eventsource-parser';
import {
  SvcAdapterError,
  SvcConfigError,
  SvcTimeoutError,
  fromErrorEvent,
  fromErrorResponse,
  isObject,
} from './errors.ts';

/** A request or response: a JSON object whose fields the provider defines. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface Transport {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
}

export interface Call {
  /** Path and query, such as `/v1/messages`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** Cancels the request; the signal's own reason is thrown. */
  readonly signal?: AbortSignal;
}

/** Aborts `fetch` when the caller's signal does, or when nothing arrives for `timeoutMs`. */
class Deadline {
  readonly controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = (): void => this.controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  hasExpired = false;

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#outer = outer;
    if (outer?.aborted === true) this.#onOuter();
    outer?.addEventListener('abort', this.#onOuter, { once: true });
    this.restart();
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.hasExpired = true;
      this.controller.abort();
    }, this.#timeoutMs);
  }

  /** Stops the timer until the next `restart`. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  stop(): void {
    this.pause();
    this.#outer?.removeEventListener('abort', this.#onOuter);
  }

  /** Returns the error to throw in place of `thrown`. */
  errorOf(thrown: unknown, baseUrl: string): unknown {
    if (thrown instanceof SvcAdapterError) return thrown;
    if (this.#outer?.aborted === true) return this.#outer.reason;
    if (this.hasExpired)
      return new SvcTimeoutError(`No response from ${baseUrl} within ${this.#timeoutMs / 1000} s`);
    return connectionError(thrown, baseUrl);
  }
}

function connectionError(thrown: unknown, baseUrl: string): SvcAdapterError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  const why =
    code === 'ECONNREFUSED'
      ? `No proxy is listening at ${baseUrl}; start it with: svc start`
      : `The connection to ${baseUrl} failed: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new SvcAdapterError(why, { cause: thrown, ...(code !== undefined && { code }) });
}

async function open(transport: Transport, call: Call, deadline: Deadline): Promise<Response> {
  const { path, headers, body } = call;
  let encoded: string;
  try {
    encoded = JSON.stringify(body);
  } catch (thrown) {
    throw new SvcConfigError('The request cannot be written as JSON', { cause: thrown });
  }
  const response = await transport.fetch(`${transport.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: encoded,
    redirect: 'manual',
    signal: deadline.controller.signal,
  });
  if (response.ok) return response;
  throw fromErrorResponse(response.status, response.headers, await response.text());
}

/** POSTs and returns the response's JSON object. Throws `SvcAdapterError` and its subclasses. */
export async function post(transport: Transport, call: Call): Promise<JsonObject> {
  const deadline = new Deadline(transport.timeoutMs, call.signal);
  try {
    const response = await open(transport, call, deadline);
    const body = await response.text();
    return parseObject(body, response.headers.get('x-request-id') ?? undefined);
  } catch (thrown) {
    throw deadline.errorOf(thrown, transport.baseUrl);
  } finally {
    deadline.stop();
  }
}

function parseObject(body: string, requestId: string | undefined): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  if (isObject(parsed)) return parsed;
  const beginning = body.trim().slice(0, 200);
  throw new SvcAdapterError(
    `The answer is not a JSON object: ${beginning === '' ? '(empty)' : beginning}`,
    {
      ...(requestId !== undefined && { requestId }),
    },
  );
}

/** Yields the `data` of every server-sent event as it arrives. */
async function* eventData(response: Response, deadline: Deadline): AsyncGenerator<string> {
  if (response.body === null) return;
  const ready: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void ready.push(data) });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      deadline.restart();
      const { done, value } = await reader.read();
      // A last event without its blank line counts too: a partial event would not be valid JSON.
      parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Position of an event: after `may_end` the stream may close, after `last` nothing more is read.
 */
export type EventPosition = 'more' | 'may_end' | 'last';

/**
 * POSTs and yields every event's JSON object up to the last one, or `[DONE]`. Throws on an error
 * event, or if the stream ends early. Leaving the loop early cancels the request.
 */
export async function* postForEvents(
  transport: Transport,
  call: Call,
  positionOf: (event: JsonObject) => EventPosition,
): AsyncGenerator<JsonObject, void, undefined> {
  const deadline = new Deadline(transport.timeoutMs, call.signal);
  let mayEnd = false;
  try {
    const response = await open(transport, call, deadline);
    const requestId = response.headers.get('x-request-id') ?? undefined;
    for await (const data of eventData(response, deadline)) {
      if (data === '[DONE]') return;
      const event = parseObject(data, requestId);
      const error = fromErrorEvent(event);
      if (error !== undefined) throw error;
      // The consumer's own time does not count towards the timeout.
      deadline.pause();
      yield event;
      const position = positionOf(event);
      if (position === 'last') return;
      mayEnd ||= position === 'may_end';
    }
    if (mayEnd) return;
    throw new SvcAdapterError('The stream ended before the answer was complete', {
      ...(requestId !== undefined && { requestId }),
    });
  } catch (thrown) {
    throw deadline.errorOf(thrown, transport.baseUrl);
  } finally {
    deadline.stop();
    deadline.controller.abort();
  }
}
