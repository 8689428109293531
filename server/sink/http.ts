/**
 * The sink for HTTP: plain JSON, SSE and chunked need the same few writes. Bytes are written as
 * they arrive; a slow client holds the writes back, and a departed one errors the stream, which
 * stops the source.
 */
import type { ServerResponse } from 'node:http';
import { SvcError } from '../../engine/index.ts';
import type { CancelSignal, Sink } from '../../engine/index.ts';
import type { Dialect } from '../../stages/model/dialect.ts';
import type { HeadFrame, ProxyFrame } from '../../stages/model/frame.ts';
import { headerValue, withoutHeaders } from '../../stages/model/headers.ts';
import { endsEvent } from '../../stages/wire/event-ends.ts';
import { endEarly } from '../http/hang-up.ts';
import { errorBody, errorHeaders, errorStatus } from '../http/error-response.ts';
import { cancellable } from './cancellable.ts';
import type { Pace } from './pace.ts';

/** A body up to this size is copied to save a system call. */
const JOINED_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);
const LETTER_A = 0x61;
const LETTER_V = 0x76;

export interface HttpSinkOptions {
  readonly response: ServerResponse;
  readonly signal: CancelSignal;
  readonly requestId: string;
  /** Dialect in which a stream reports its failure. */
  readonly dialect: Dialect;
  /** Headers of every response, as a flat list: CORS and similar. */
  readonly extraHeaders: readonly string[];
  /** Encodes a stream for the client; by default its bytes are unchanged. */
  readonly encode?: StreamEncoding | undefined;
  /** Holds back stream events until there are enough of them; by default none are held. */
  readonly pace?: Pace | undefined;
}

/** Another form for the events of a stream. */
export interface StreamEncoding {
  readonly contentType: string;
  push(bytes: Buffer): Buffer;
  end(): Buffer;
  /** Returns the bytes that report a failed stream. */
  error(error: SvcError, requestId: string): Buffer;
}

export class HttpSink implements Sink<ProxyFrame> {
  #options: HttpSinkOptions;
  #streaming = false;
  /** Remaining bytes of the promised Content-Length; undefined if there is none. */
  #promisedBytes: number | undefined;
  #tail: Buffer | undefined;
  #encode: StreamEncoding | undefined;
  #isBodyBegun = false;

  constructor(options: HttpSinkOptions) {
    this.#options = options;
  }

  whole(frames: readonly ProxyFrame[]): Promise<void> | void {
    const { response } = this.#options;
    let head: HeadFrame | undefined;
    const chunks: Buffer[] = [];
    for (const frame of frames) {
      if (frame.kind === 'head') head = frame;
      else if (frame.kind === 'chunk') chunks.push(frame.bytes);
    }
    if (head === undefined) throw new SvcError('internal', 'An answer came without a head');
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    this.#writeHead(head, bytes.length);
    return new Promise((resolve) => {
      if (bytes.length > 0 && bytes.length <= JOINED_BYTES) writeJoined(response, bytes);
      response.end(bytes.length > JOINED_BYTES ? bytes : undefined, resolve);
    });
  }

  before(): ReadableWritablePair<ProxyFrame, ProxyFrame> | undefined {
    return this.#options.pace?.stream;
  }

  write(frame: ProxyFrame): Promise<void> | void {
    const { response } = this.#options;
    if (frame.kind === 'head') return this.#writeHead(frame, undefined);
    if (frame.kind !== 'chunk') return undefined;
    const bytes = this.#encode?.push(frame.bytes) ?? frame.bytes;
    if (bytes.length === 0) return undefined;
    // An extra byte would be read as the beginning of the next response.
    if (this.#promisedBytes !== undefined && (this.#promisedBytes -= bytes.length) < 0)
      throw new SvcError('internal', 'An answer is longer than its Content-Length');
    this.#tail = bytes;
    this.#isBodyBegun = true;
    return response.write(bytes) ? undefined : this.#drained();
  }

  /** Resolves when the client has taken the written bytes; rejects when the run is cancelled. */
  #drained(): Promise<void> {
    const { response, signal } = this.#options;
    if (signal.aborted) return Promise.reject(signal.reason);
    return cancellable(signal, (done) => response.once('drain', done));
  }

  async end(): Promise<void> {
    const { response, signal } = this.#options;
    const rest = this.#encode?.end() ?? NOTHING;
    if (rest.length > 0) response.write(rest);
    if (this.#promisedBytes !== undefined && this.#promisedBytes > 0)
      throw new SvcError('internal', 'An answer is shorter than its Content-Length');
    return cancellable(signal, (done) => response.end(() => done()));
  }

  #writeHead(head: HeadFrame, sizeBytes: number | undefined): void {
    const { response, requestId, extraHeaders, encode } = this.#options;
    let headers = withOurCors(head.headers, extraHeaders);
    if (headerValue(headers, 'x-request-id') === undefined) headers.push('X-Request-ID', requestId);
    headers.push('X-Svc-Request-ID', requestId);
    this.#streaming = head.streaming && headerValue(headers, 'content-encoding') === undefined;
    this.#encode = this.#streaming && head.status < 400 ? encode : undefined;
    if (this.#encode !== undefined) {
      headers = withoutHeaders(headers, (name) => /^content-(?:type|length)$/.test(name));
      headers.push('Content-Type', this.#encode.contentType);
    }
    const declared = headerValue(headers, 'content-length');
    const bodiless = head.status === 204 || head.status === 304 || response.req.method === 'HEAD';
    if (sizeBytes !== undefined && !bodiless && declared !== String(sizeBytes)) {
      headers = withoutHeaders(headers, (name) => name === 'content-length');
      headers.push('Content-Length', String(sizeBytes));
    } else if (declared !== undefined && !bodiless) this.#promisedBytes = Number(declared);
    // nginx buffers whole responses unless told otherwise.
    if (head.streaming && headerValue(headers, 'x-accel-buffering') === undefined)
      headers.push('X-Accel-Buffering', 'no');
    response.writeHead(head.status, headers);
    if (sizeBytes !== undefined) return;
    // A head without a body would wait for its first byte, which may be seconds away; if the body
    // is already there, both leave in one write.
    setImmediate(() => {
      if (!this.#isBodyBegun && !response.destroyed) response.flushHeaders();
    });
  }

  fail(error: SvcError): void {
    const { response, requestId, extraHeaders, dialect, pace } = this.#options;
    if (response.destroyed) return;
    if (!response.headersSent) {
      const body = errorBody(error, requestId);
      const headers = errorHeaders(error, requestId, body.length);
      for (let i = 0; i + 1 < extraHeaders.length; i += 2)
        headers[extraHeaders[i]!] = extraHeaders[i + 1]!;
      response.writeHead(errorStatus(error), headers);
      endEarly(response, body);
      return;
    }
    const held = pace?.rest() ?? NOTHING;
    if (held.length > 0) response.write(this.#encode?.push(held) ?? held);
    // A truncated document must be recognizable: only a broken connection shows that.
    if (!this.#streaming || this.#promisedBytes !== undefined) {
      response.destroy();
      return;
    }
    if (this.#encode !== undefined) response.write(this.#encode.error(error, requestId));
    else {
      // An event too long to be held may have been sent in part.
      if (this.#tail !== undefined && !endsEvent(this.#tail)) response.write('\n\n');
      response.write(dialect.errorEvent(error, requestId));
    }
    response.end();
  }
}

/**
 * Writes head and body at once: as text, node joins them. Uncorked before the end is written, so
 * that node does not make a list of this text and an empty one, which costs more to write (Node 20:
 * 2.6 KB of garbage per response).
 */
function writeJoined(response: ServerResponse, bytes: Buffer): void {
  const { socket } = response;
  socket?.cork();
  response.write(bytes.toString('latin1'), 'latin1');
  socket?.uncork();
}

/**
 * Joins the provider's headers and ours. Who may read a response is this proxy's decision: the
 * provider's CORS headers concern its own origin, and a browser rejects two such headers.
 */
function withOurCors(theirs: readonly string[], ours: readonly string[]): string[] {
  const headers: string[] = [];
  let vary = '';
  for (let i = 0; i + 1 < theirs.length; i += 2) {
    const name = theirs[i]!;
    // Few headers begin like these two, and a regex per header costs more than everything else.
    const first = name.charCodeAt(0) | 0x20;
    if (first === LETTER_A && /^access-control-/i.test(name)) continue;
    if (first === LETTER_V && ours.length > 0 && name.toLowerCase() === 'vary')
      vary = mergeNames(vary, theirs[i + 1]!);
    else headers.push(name, theirs[i + 1]!);
  }
  for (let i = 0; i + 1 < ours.length; i += 2) {
    if (ours[i] === 'Vary') vary = mergeNames(vary, ours[i + 1]!);
    else headers.push(ours[i]!, ours[i + 1]!);
  }
  if (vary !== '') headers.push('Vary', vary);
  return headers;
}

/** Merges two lists of header names, each name once. */
function mergeNames(list: string, more: string): string {
  const names = list === '' ? [] : list.split(',').map((name) => name.trim());
  for (const name of more.split(',').map((each) => each.trim())) {
    if (!names.some((each) => each.toLowerCase() === name.toLowerCase())) names.push(name);
  }
  return names.join(', ');
}
