/**
 * What a provider that is code may change: its requests before they are sent, its answers before
 * any other code reads them. A hook runs on parsed JSON of the provider's own dialect,
 * synchronously and for at most 50 ms; a failing hook ends only its own attempt.
 */
import { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { parseJson } from '../dialect/json-kind.ts';
import { printable, undecodableAnswer } from '../model/errors.ts';
import { contentType, headerValue, isHopByHop, withoutHeaders } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';
import { createSplitter, encodeEvent } from '../wire/events.ts';
import { decodedResponse } from './decoded-body.ts';
import { hookFault, isHookFault, firstLineOf } from './hook-fault.ts';
import { bodyOf } from './response-body.ts';
import type { UpstreamRequest, UpstreamResponse } from './upstream.ts';

/** Any JSON value; hooks know the structure of their dialect. */
// oxlint-disable-next-line typescript/no-explicit-any -- authors read into bodies whose shape only they know
export type HookJson = any;

/** A request as it is about to be sent. Header names are in lower case. */
export interface HookedRequest {
  /** Path and query, including the provider's prefix. */
  path: string;
  headers: Record<string, string>;
  body: HookJson;
}

/** An answer that is one document. */
export interface HookedResponse {
  readonly status: number;
  body: HookJson;
}

/** One event of a stream whose data is JSON. */
export interface HookedEvent {
  /** The name of the event; absent if the dialect has none. */
  event?: string | undefined;
  data: HookJson;
}

/**
 * Each hook changes its argument in place, or returns a replacement; returning nothing keeps it.
 */
export interface ProviderHooks {
  /** Differs whenever the code does: an answer cached under other hooks is not reused. */
  readonly version?: string;
  readonly request?: (request: HookedRequest) => HookedRequest | void;
  readonly response?: (response: HookedResponse) => HookedResponse | void;
  /** `null` drops the event. */
  readonly event?: (event: HookedEvent) => HookedEvent | null | void;
}

/** The provider whose hooks run, and the clock that times them. */
export interface HookOwner {
  readonly name: string;
  readonly hooks: ProviderHooks;
  readonly clock: Clock;
}

/** How long a hook may run, in milliseconds: it blocks the whole proxy. */
const HOOK_BUDGET_MS = 50;
/** A longer document is not passed to a hook. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/**
 * Returns the request after the hook. `body` is parsed only if there is a hook. Throws
 * `bad_gateway` naming the provider.
 */
export function hookRequest(
  owner: HookOwner,
  wire: UpstreamRequest,
  body: () => unknown,
): UpstreamRequest {
  const hook = owner.hooks.request;
  if (hook === undefined) return wire;
  const given: HookedRequest = { path: wire.path, headers: toRecord(wire.headers), body: body() };
  const hooked = callHook(owner, 'request', hook, given) ?? given;
  return readResult(owner, 'request', () => {
    const { path, headers, body: fromHook } = hooked;
    if (typeof path !== 'string' || !/^\/[\x21-\x7e]*$/.test(path))
      throw toHookError(
        owner,
        'request',
        'it set a path that cannot be sent; one begins with a slash and is visible ASCII',
      );
    return {
      ...wire,
      path,
      headers: toFlat(owner, headers),
      body: Buffer.from(toJsonText(owner, 'request', 'body', fromHook)),
    };
  });
}

/**
 * Returns the answer with the hooks applied as it is read. Throws `bad_gateway` for one that cannot
 * be read.
 */
export function hookResponse(owner: HookOwner, response: UpstreamResponse): UpstreamResponse {
  const type = contentType(response.headers);
  const { event, response: document } = owner.hooks;
  const isEvents = type.startsWith('text/event-stream') && event !== undefined;
  const isDocument = type.includes('json') && document !== undefined;
  if (!isEvents && !isDocument) return response;
  const plain = decodedResponse(response);
  const encoding = headerValue(plain.headers, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    response.body.cancel(new Error('it is encoded'));
    throw undecodableAnswer(encoding, { provider: owner.name });
  }
  return {
    status: response.status,
    headers: withoutHeaders(plain.headers, (name) => name === 'content-length'),
    body: bodyOf(
      plain.body
        .bytes()
        .pipeThrough(
          isEvents ? hookedEvents(owner, event) : hookedDocument(owner, response.status),
        ),
    ),
  };
}

function hookedEvents(
  owner: HookOwner,
  hook: NonNullable<ProviderHooks['event']>,
): TransformStream<Buffer, Buffer> {
  const splitter = createSplitter();

  function changed(piece: { event: string | undefined; data: string | undefined; bytes: Buffer }) {
    const data = piece.data === undefined ? undefined : parseJson(piece.data);
    // Comments, garbage and a dialect's end mark are never passed to hooks.
    if (data === undefined) return piece.bytes;
    const given: HookedEvent = { event: piece.event, data };
    const hooked = callHook(owner, 'event', hook, given);
    if (hooked === null) return Buffer.alloc(0);
    return readResult(owner, 'event', () => {
      const { event, data: fromHook } = hooked ?? given;
      if (event !== undefined && (typeof event !== 'string' || /[\r\n\0]/.test(event)))
        throw toHookError(owner, 'event', 'it set a name that cannot be sent');
      return encodeEvent(event, toJsonText(owner, 'event', 'data', fromHook));
    });
  }

  return new TransformStream<Buffer, Buffer>({
    transform(bytes, controller) {
      const made = Buffer.concat(splitter.push(bytes).map(changed));
      if (made.length > 0) controller.enqueue(made);
    },
    flush(controller) {
      const rest = splitter.rest();
      if (rest !== undefined) controller.enqueue(changed(rest));
    },
  });
}

function hookedDocument(owner: HookOwner, status: number): TransformStream<Buffer, Buffer> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  return new TransformStream<Buffer, Buffer>({
    transform(piece) {
      pieces.push(piece);
      sizeBytes += piece.length;
      if (sizeBytes <= MAX_DOCUMENT_BYTES) return;
      const message = `An answer of provider '${owner.name}' is too long for hooks`;
      throw new SvcError('bad_gateway', message);
    },
    flush(controller) {
      const bytes = Buffer.concat(pieces);
      const json = parseJson(bytes.toString('utf8'));
      if (json === undefined || owner.hooks.response === undefined)
        return controller.enqueue(bytes);
      const given: HookedResponse = { status, body: json };
      const hooked = callHook(owner, 'response', owner.hooks.response, given) ?? given;
      return controller.enqueue(
        readResult(owner, 'response', () =>
          Buffer.from(toJsonText(owner, 'response', 'body', hooked.body)),
        ),
      );
    },
  });
}

function callHook<T, R>(owner: HookOwner, name: HookName, hook: (given: T) => R, given: T): R {
  const startedMs = owner.clock.monotonicMs();
  let result: R;
  try {
    result = hook(given);
  } catch (thrown) {
    throw toHookError(owner, name, firstLineOf(thrown), thrown);
  }
  const problem = readResult(owner, name, () => unfitResult(name, result));
  if (problem !== undefined) {
    // Its outcome no longer matters.
    if (result instanceof Promise) result.catch(() => undefined);
    throw toHookError(owner, name, problem);
  }
  const tookMs = owner.clock.monotonicMs() - startedMs;
  if (tookMs > HOOK_BUDGET_MS) {
    throw toHookError(owner, name, `it took ${Math.round(tookMs)} ms of at most ${HOOK_BUDGET_MS}`);
  }
  return result;
}

/** Reads the result of a hook, any member of which may be a getter that throws. */
function readResult<T>(owner: HookOwner, name: HookName, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw isHookFault(thrown) ? thrown : toHookError(owner, name, firstLineOf(thrown), thrown);
  }
}

/** Returns `value` as JSON. */
function toJsonText(owner: HookOwner, name: HookName, what: string, value: unknown): string {
  const why = `it left no ${what} that can be written as JSON`;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (thrown) {
    throw toHookError(owner, name, `${why}: ${firstLineOf(thrown)}`, thrown);
  }
  if (text === undefined) throw toHookError(owner, name, why);
  return text;
}

function toHookError({ name }: HookOwner, hook: HookName, why: string, thrown?: unknown): SvcError {
  return hookFault(name, hook, why, thrown);
}

function toRecord(headers: Headers): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    // The hook's body is written unencoded.
    if (name === 'content-encoding') continue;
    const before = record[name];
    record[name] = before === undefined ? headers[i + 1]! : `${before}, ${headers[i + 1]!}`;
  }
  return record;
}

/** Headers about the connection, or about bytes that are written here. */
const OURS = new Set(['host', 'content-length', 'content-encoding', 'expect']);

function toFlat(owner: HookOwner, headers: unknown): string[] {
  if (Object.prototype.toString.call(headers) !== '[object Object]')
    throw toHookError(owner, 'request', 'it left headers that are not a plain object');
  const flat: string[] = [];
  for (const [name, value] of Object.entries(headers as object)) {
    const lower = name.toLowerCase();
    if (OURS.has(lower) || isHopByHop(lower))
      throw toHookError(owner, 'request', `it set '${lower}', which the proxy sets itself`);
    const isSound =
      /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) &&
      typeof value === 'string' &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
    if (!isSound) {
      const why =
        typeof value === 'string' ? 'which cannot be sent' : 'whose value is not a string';
      throw toHookError(owner, 'request', `it set the header field '${printable(name)}', ${why}`);
    }
    flat.push(name, value);
  }
  return flat;
}

/** The hooks of a provider that is code. */
type HookName = 'request' | 'response' | 'event';

/** Members that an object returned by a hook must have. */
const MEMBERS: Readonly<Record<HookName, readonly string[]>> = {
  request: ['path', 'headers', 'body'],
  response: ['body'],
  event: ['data'],
};

/**
 * Returns why `result` is unusable (authors return other things by mistake), undefined if it is
 * usable. Throws what a getter of it throws.
 */
function unfitResult(hook: HookName, result: unknown): string | undefined {
  if (result === undefined || result === null) return undefined;
  if (isThenable(result)) return 'it returned a promise; hooks are synchronous';
  const requiredMembers = MEMBERS[hook];
  if (typeof result === 'object' && requiredMembers.every((member) => member in result))
    return undefined;
  return `it returned something that is not { ${requiredMembers.join(', ')} }; return that, or nothing`;
}

function isThenable(result: {}): boolean {
  return typeof result === 'object' && 'then' in result && typeof result.then === 'function';
}
