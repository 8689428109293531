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
import type { AttemptScope, BodyWatch, LiveSteps, ReadOptions } from '../attempt-scope.ts';
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

/** A response that is being read. */
interface Incoming extends ReadOptions {
  readonly prepared: Prepared;
  readonly head: HeadFrame;
  readonly body: ResponseBody;
}

/**
 * Reads until part of the answer can be sent to the client, or there is a reason to send none of
 * it, which is returned rather than thrown.
 */
export async function readAnswer(
  prepared: Prepared,
  response: UpstreamResponse,
  { mustHold, admission, scope }: ReadOptions,
): Promise<Read> {
  const { body } = response;
  const head = toHead(prepared, response, scope);
  const incoming: Incoming = { prepared, head, body, mustHold, admission, scope };
  if (isBodiless(head.status, prepared.request.original.body.method)) {
    body.cancel(undefined);
    return complete([head, END], admission);
  }
  try {
    if (isPage(incoming)) {
      body.cancel(new Error('not an answer'));
      return { error: noAnswer(incoming, 'a web page in place of an answer') };
    }
    if (isReadWhole(incoming)) return await readDocument(incoming);
    const isHeld =
      mustHold && head.streaming && (isPlain(head) || readEncoding(head) !== undefined);
    return await (isHeld ? readHeld(incoming) : toLive(incoming));
  } catch (thrown) {
    body.cancel(thrown);
    admission.failed(thrown, scope.run.signal);
    admission.release();
    return { error: toFailure(thrown) };
  }
}

/**
 * Returns true if the client gets the provider's own bytes. That includes errors of a provider that
 * was only asked for a whole answer, which are in the client's dialect.
 */
function isVerbatim({ prepared: { reading }, head }: Incoming): boolean {
  return reading.how === 'passthrough' || (reading.how === 'one-document' && head.status >= 400);
}

/** Returns true if the answer is read to its end before any of it is sent to the client. */
function isReadWhole(incoming: Incoming): boolean {
  const { head } = incoming;
  return !head.streaming && (!isVerbatim(incoming) || isDocument(head));
}

/** A document's outcome is only known at its end, where it may turn out to be an error. */
async function readDocument(incoming: Incoming): Promise<Read> {
  const { head, body, admission, scope } = incoming;
  if (!isVerbatim(incoming)) return complete(await translated(incoming, body), admission);
  const answer = await gather(head, body, scope.services.clock);
  // It has outgrown the collection limit, or is an error without an end, and continues as a stream.
  if (!isWhole(answer)) return { answer, live: passingSteps(watchBody(head, incoming), undefined) };
  if (answer.length === 2 && isAnswered(incoming))
    return { error: noAnswer(incoming, 'nothing in place of an answer') };
  if (!isErrorDocument(await errorBytes(incoming, answer[1]))) return complete(answer, admission);
  // Another provider may take over, or the client gets the error unchanged.
  return {
    error: noAnswer(incoming, 'an error'),
    errorAnswer: [Object.freeze({ ...head, failed: true }), ...answer.slice(1)],
  };
}

/** Returns the answer in the client's dialect; its code is large, and loaded when first needed. */
async function translated(
  { prepared, head, scope }: Incoming,
  body: ResponseBody,
  watch?: BodyWatch,
): Promise<Answer<ProxyFrame>> {
  const { translatedAnswer } = await import('./translated.ts');
  return translatedAnswer(prepared, head, body, scope, watch);
}

/** Returns true for what should be the answer of a model. */
function isAnswered({ prepared: { request }, head }: Incoming): boolean {
  return request.original.endpoint.operation === 'generate' && head.status < 300;
}

/** Returns true for a page of a gateway or captive portal instead of an answer. */
function isPage(incoming: Incoming): boolean {
  const isHtml = /^(?:text\/html|application\/xhtml)/.test(contentType(incoming.head.headers));
  return isHtml && isAnswered(incoming);
}

/**
 * Reports a success without an answer: useless to the client, and another provider may have one.
 */
function noAnswer({ prepared, head, admission }: Incoming, what: string): SvcError {
  admission.errorEvent();
  admission.release();
  const message = `Provider '${prepared.provider.name}' answered ${head.status} with ${what}`;
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
  { prepared, head }: Incoming,
  chunk: ProxyFrame | undefined,
): Promise<Buffer> {
  const { operation } = prepared.request.original.endpoint;
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

async function readHeld(incoming: Incoming): Promise<Read> {
  const { prepared, head, body, admission, scope } = incoming;
  const { signal } = scope.run;
  const { clock } = scope.services;
  const encoding = readEncoding(head);
  const held = await hold({ body, encoding, dialect: prepared.dialect, clock });
  if (!('failed' in held)) {
    scope.state.notes.push(`held back until ${held.released}`);
    if (held.released === 'content') admission.content();
    return toLive(incoming);
  }
  const { failed } = held;
  const received = Buffer.concat(body.arrived().pieces);
  body.cancel(new Error('another provider takes over'));
  // A stream that ends before any content is a failure of the provider as well.
  if (isSvcError(failed) || signal.aborted) admission.failed(failed, signal);
  else admission.errorEvent();
  admission.release();
  const error = toFailure(failed);
  if (!(failed instanceof ErrorEvent)) return { error };
  return { error, errorAnswer: await sentAnswer(incoming, received) };
}

/** Returns the answer as it arrives, with its outcome watched. */
async function toLive(incoming: Incoming): Promise<Read> {
  const { head, body } = incoming;
  const watch = watchBody(head, incoming);
  if (!isVerbatim(incoming))
    return { answer: await translated(incoming, body, watch), live: { watch } };
  return { answer: framesOf(head, body), live: passingSteps(watch, addedUsage(incoming)) };
}

/** Returns the usage that only the proxy requested and that can be removed from the answer. */
function addedUsage({ prepared: { reading }, head }: Incoming): UsageRequest | undefined {
  return reading.how === 'passthrough' && head.streaming && isPlain(head)
    ? reading.added
    : undefined;
}

/**
 * Returns the answer of a provider that sent an error event before any content: nothing follows
 * `received`.
 */
async function sentAnswer(incoming: Incoming, received: Buffer): Promise<Answer<ProxyFrame>> {
  if (!isVerbatim(incoming)) return translated(incoming, bodyOf(streamOf([received])));
  return streamOf([incoming.head, chunksWithout(addedUsage(incoming))(received), END]);
}
