/**
 * From a provider's response to the client's answer, reporting the outcome to the provider's
 * breaker.
 */
import { SvcError, isSvcError, isWhole, streamOf } from '../../../engine/index.ts';
import type { Answer } from '../../../engine/index.ts';
import { isErrorDocument } from '../../dialect/error-document.ts';
import { undecodableAnswer } from '../../model/errors.ts';
import type { UsageRequest } from '../../model/dialect.ts';
import { END } from '../../model/frame.ts';
import type { HeadFrame, ProxyFrame } from '../../model/frame.ts';
import { contentType, headerValue, isPlain } from '../../model/headers.ts';
import type { Admission } from '../../providers/admission.ts';
import { decodedResponse, readEncoding } from '../../providers/decoded-body.ts';
import { bodyOf } from '../../providers/response-body.ts';
import type { ResponseBody } from '../../providers/response-body.ts';
import type { UpstreamResponse } from '../../providers/upstream.ts';
import { decodeBody } from '../../wire/decode.ts';
import {
  MAX_GATHERED_BYTES,
  chunksWithout,
  framesOf,
  gather,
  isBodiless,
  isDocument,
} from './answer.ts';
import type { AttemptScope, LiveSteps, ReadOptions } from '../attempt-scope.ts';
import { toHead } from './head.ts';
import { ErrorEvent, hold } from './hold.ts';
import type { Prepared } from '../request/prepared.ts';
import { passingSteps, watchBody } from './watched-body.ts';

/** The answer, or why there is none; `errorAnswer` is the provider's answer in that case. */
export type Read =
  | { readonly answer: Answer<ProxyFrame>; readonly live?: LiveSteps }
  | { readonly error: SvcError; readonly errorAnswer?: Answer<ProxyFrame> };

/** Converts a failure thrown before anything was sent to the client. */
export function toFailure(thrown: unknown): SvcError {
  if (isSvcError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : 'it broke off';
  return new SvcError('bad_gateway', `The provider failed before any content: ${message}`, {
    cause: thrown,
  });
}

/**
 * Reads until part of the answer can be sent to the client, or there is a reason to send none of
 * it, which is returned rather than thrown.
 */
export async function readAnswer(
  prepared: Prepared,
  response: UpstreamResponse,
  options: ReadOptions,
): Promise<Read> {
  const { admission, scope } = options;
  const head = toHead(prepared, response, scope);
  if (isBodiless(response.status, prepared.request.original.body.method)) {
    response.body.cancel(undefined);
    return complete([head, END], admission);
  }
  try {
    if (isPage(prepared, head)) {
      response.body.cancel(new Error('not an answer'));
      return { error: noAnswer(prepared, head, 'a web page in place of an answer', admission) };
    }
    if (isReadWhole(prepared, head)) return await readDocument(prepared, response, head, options);
    const encoding = readEncoding(response);
    const isHeld = options.mustHold && head.streaming && (encoding !== undefined || isPlain(head));
    return isHeld
      ? await readHeld(prepared, response, encoding, head, options)
      : await toLive(prepared, head, response.body, options);
  } catch (thrown) {
    response.body.cancel(thrown);
    admission.failed(thrown, scope.run.signal);
    admission.release();
    return { error: toFailure(thrown) };
  }
}

/**
 * Returns true if the client gets the provider's own bytes. That includes errors of a provider that
 * was only asked for a whole answer, which are in the client's dialect.
 */
function isVerbatim({ reading }: Prepared, { status }: HeadFrame): boolean {
  return reading.how === 'passthrough' || (reading.how === 'one-document' && status >= 400);
}

/** Returns true if the answer is read to its end before any of it is sent to the client. */
function isReadWhole(prepared: Prepared, head: HeadFrame): boolean {
  return !head.streaming && (!isVerbatim(prepared, head) || isDocument(head));
}

/** A document's outcome is only known at its end, where it may turn out to be an error. */
async function readDocument(
  prepared: Prepared,
  { body }: UpstreamResponse,
  head: HeadFrame,
  options: ReadOptions,
): Promise<Read> {
  const { admission, scope } = options;
  if (!isVerbatim(prepared, head)) {
    const { translatedAnswer } = await import('./translated.ts');
    return complete(await translatedAnswer(prepared, head, body, scope), admission);
  }
  const answer = await gather(head, body, scope.services.clock);
  // It has outgrown the collection limit, or is an error without an end, and continues as a stream.
  if (!isWhole(answer)) return { answer, live: passingSteps(watchBody(head, options), undefined) };
  if (answer.length === 2 && isAnswered(prepared, head))
    return { error: noAnswer(prepared, head, 'nothing in place of an answer', admission) };
  if (!isErrorDocument(await errorBytes(prepared, head, answer[1])))
    return complete(answer, admission);
  // Another provider may take over, or the client gets the error unchanged.
  return {
    error: noAnswer(prepared, head, 'an error', admission),
    errorAnswer: [Object.freeze({ ...head, failed: true }), ...answer.slice(1)],
  };
}

/** Returns true for what should be the answer of a model. */
function isAnswered({ request }: Prepared, { status }: HeadFrame): boolean {
  return request.original.endpoint.operation === 'generate' && status < 300;
}

/** Returns true for a page of a gateway or captive portal instead of an answer. */
function isPage(prepared: Prepared, head: HeadFrame): boolean {
  const isHtml = /^(?:text\/html|application\/xhtml)/.test(contentType(head.headers));
  return isHtml && isAnswered(prepared, head);
}

/**
 * Reports a success without an answer: useless to the client, and another provider may have one.
 */
function noAnswer(
  { provider }: Prepared,
  { status }: HeadFrame,
  what: string,
  admission: Admission,
): SvcError {
  admission.errorEvent();
  admission.release();
  const message = `Provider '${provider.name}' answered ${status} with ${what}`;
  return new SvcError('bad_gateway', message, { code: 'PROVIDER_004' });
}

/** Returns the result for a complete document that is not an error. */
function complete(answer: Answer<ProxyFrame>, admission: Admission): Read {
  admission.content();
  admission.release();
  return { answer };
}

const NOTHING = Buffer.alloc(0);
/** An error is short even when encoded; a longer encoded document is not decoded here. */
const MAX_ENCODED_ERROR_BYTES = 4 * 1024;

/** Returns the bytes that may be an error under a success status; none if that is impossible. */
async function errorBytes(
  { request }: Prepared,
  head: HeadFrame,
  chunk: ProxyFrame | undefined,
): Promise<Buffer> {
  const { operation } = request.original.endpoint;
  const isAsked = operation === 'generate' || operation === 'count_tokens';
  if (!isAsked || head.status >= 300 || chunk?.kind !== 'chunk') return NOTHING;
  if (isPlain(head)) return chunk.bytes;
  if (chunk.bytes.length > MAX_ENCODED_ERROR_BYTES) return NOTHING;
  const encoding = headerValue(head.headers, 'content-encoding');
  return decodeBody(chunk.bytes, encoding, MAX_GATHERED_BYTES).catch(() => NOTHING);
}

/**
 * Returns the answer in readable form, if the client's answer is made from it. It should not have
 * been encoded.
 */
export function readable(
  { provider, reading }: Prepared,
  response: UpstreamResponse,
  { needsEvents }: AttemptScope,
): UpstreamResponse {
  if (reading.how === 'passthrough') {
    const isRead = reading.added !== undefined || needsEvents;
    if (!isRead || !contentType(response.headers).startsWith('text/event-stream')) return response;
  }
  const plain = decodedResponse(response);
  if (isPlain(plain) || reading.how === 'passthrough') return plain;
  response.body.cancel(undefined);
  throw undecodableAnswer(headerValue(plain.headers, 'content-encoding')!, {
    provider: provider.name,
  });
}

async function readHeld(
  prepared: Prepared,
  response: UpstreamResponse,
  encoding: string | undefined,
  head: HeadFrame,
  options: ReadOptions,
): Promise<Read> {
  const { admission, scope } = options;
  const { body } = response;
  const { clock } = scope.services;
  const held = await hold({ body, encoding, dialect: prepared.dialect, clock });
  if (!('failed' in held)) {
    scope.state.notes.push(`held back until ${held.released}`);
    if (held.released === 'content') admission.content();
    return toLive(prepared, head, body, options);
  }
  const { failed } = held;
  const received = Buffer.concat(body.arrived().pieces);
  body.cancel(new Error('another provider takes over'));
  // A stream that ends before any content is a failure of the provider as well.
  if (isSvcError(failed) || scope.run.signal.aborted) admission.failed(failed, scope.run.signal);
  else admission.errorEvent();
  admission.release();
  const error = toFailure(failed);
  if (!(failed instanceof ErrorEvent)) return { error };
  return { error, errorAnswer: await sentAnswer(prepared, head, received, scope) };
}

/** Returns the answer as it arrives, with its outcome watched. */
async function toLive(
  prepared: Prepared,
  head: HeadFrame,
  body: ResponseBody,
  options: ReadOptions,
): Promise<Read> {
  const watch = watchBody(head, options);
  if (!isVerbatim(prepared, head)) {
    const { translatedAnswer } = await import('./translated.ts');
    return {
      answer: await translatedAnswer(prepared, head, body, options.scope, watch),
      live: { watch },
    };
  }
  return {
    answer: framesOf(head, body),
    live: passingSteps(watch, addedUsage(prepared, head)),
  };
}

/** Returns the usage that only the proxy requested and that can be removed from the answer. */
function addedUsage({ reading }: Prepared, head: HeadFrame): UsageRequest | undefined {
  return reading.how === 'passthrough' && head.streaming && isPlain(head)
    ? reading.added
    : undefined;
}

/**
 * Returns the answer of a provider that sent an error event before any content: nothing follows
 * `received`.
 */
async function sentAnswer(
  prepared: Prepared,
  head: HeadFrame,
  received: Buffer,
  scope: AttemptScope,
): Promise<Answer<ProxyFrame>> {
  if (!isVerbatim(prepared, head)) {
    const { translatedAnswer } = await import('./translated.ts');
    return translatedAnswer(prepared, head, bodyOf(streamOf([received])), scope);
  }
  return streamOf([head, chunksWithout(addedUsage(prepared, head))(received), END]);
}
