/**
 * The sink for WebSocket: the same response as over HTTP, written as event objects. A stream's
 * events are sent one by one, then the end of the connection's form. An object with an `error`
 * replaces that end.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { WebSocket } from 'ws';
import { SvcError } from '../../engine/index.ts';
import type { CancelSignal, Sink } from '../../engine/index.ts';
import type { UsageObserver } from '../../stages/model/dialect.ts';
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { streamCutShort, undecodableAnswer } from '../../stages/model/errors.ts';
import type { ChunkEvent, HeadFrame, ProxyFrame } from '../../stages/model/frame.ts';
import { headerValue } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { createDecoder } from '../../stages/wire/decode.ts';
import type { Decoder } from '../../stages/wire/decode.ts';
import { createEventReader } from '../../stages/wire/events.ts';
import type { EventReader } from '../../stages/wire/events.ts';
import { cancellable } from './cancellable.ts';
import { failureIn } from './failure.ts';
import type { Failure } from './failure.ts';

const compress = promisify(gzip);

/** With more unsent bytes than this, the run waits for the socket. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** A document is sent as a whole and thus held in memory, up to this size after decoding. */
const MAX_DOCUMENT_MIB = 32;

/** A response with an error status. */
export interface Refused {
  readonly text: string;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string;
}

/** The form of responses on a connection: each text is one frame with a JSON object. */
export interface SocketForm {
  /** True for an event that is not sent, since another message replaces it. */
  readonly isHeldBack: (event: string | undefined, data: string) => boolean;
  /** Called with each event that is sent. */
  readonly onEvent?: (payload: JsonObject) => void;
  /** Returns the messages for a failure in the middle of a stream. */
  readonly failureTexts: (failure: Failure, requestId: string) => readonly string[];
  readonly refusalTexts: (refused: Refused) => readonly string[];
  /** Returns the message for a document that is not a stream. */
  readonly documentText: (text: string) => string;
  /** Returns the messages after a complete response. */
  readonly endTexts: (usage: Usage | undefined) => readonly string[];
  readonly errorText: (error: SvcError, requestId: string) => string;
}

export interface SocketSinkOptions {
  readonly form: SocketForm;
  readonly socket: WebSocket;
  readonly signal: CancelSignal;
  readonly requestId: string;
  /** Sends binary frames with gzip instead of text frames. */
  readonly gzip: boolean;
}

export class SocketSink implements Sink<ProxyFrame> {
  #options: SocketSinkOptions;
  #splitter: EventReader | undefined;
  #document: Buffer[] = [];
  #documentBytes = 0;
  #observer: UsageObserver | undefined;
  #head: HeadFrame | undefined;
  #encoding = 'identity';
  #decoder: Decoder | undefined;
  /** Settles when all that was decoded so far has been taken. */
  #taken: Promise<void> = Promise.resolve();
  /** True once an error object was sent: nothing may follow it. */
  #failed = false;

  constructor(options: SocketSinkOptions) {
    this.#options = options;
  }

  async whole(frames: readonly ProxyFrame[]): Promise<void> {
    for (const frame of frames) await this.write(frame);
    await this.end();
  }

  async write(frame: ProxyFrame): Promise<void> {
    if (frame.kind === 'head') return this.#begin(frame);
    if (frame.kind !== 'chunk') return undefined;
    if (this.#decoder !== undefined) return this.#decode(this.#decoder, frame.bytes);
    this.#observer?.push(frame.metered ?? frame.bytes);
    return this.#take(frame.bytes);
  }

  #begin(head: HeadFrame): void {
    this.#head = head;
    this.#observer = head.request.original.dialect.observeUsage(head.streaming);
    if (head.streaming && head.status < 400) this.#splitter = createEventReader();
    this.#encoding = headerValue(head.headers, 'content-encoding') ?? 'identity';
    if (this.#encoding.trim().toLowerCase() === 'identity') return;
    this.#decoder = createDecoder(this.#encoding, (bytes) => {
      this.#observer?.push(bytes);
      this.#taken = this.#taken.then(() => this.#take(bytes));
      // The next write rejects with it.
      this.#taken.catch(() => undefined);
    });
  }

  async #decode(decoder: Decoder, bytes: Buffer): Promise<void> {
    if (!decoder.push(bytes)) throw undecodableAnswer(this.#encoding);
    await cancellable(this.#options.signal, (done) => void decoder.drained().then(() => done()));
    await this.#taken;
  }

  async #take(bytes: Buffer): Promise<void> {
    if (this.#splitter !== undefined) {
      for (const event of this.#splitter.push(bytes)) await this.#event(event);
      return;
    }
    this.#document.push(bytes);
    this.#documentBytes += bytes.length;
    if (this.#documentBytes > MAX_DOCUMENT_MIB * 2 ** 20) {
      const message = `The provider's answer is larger than ${MAX_DOCUMENT_MIB} MiB, the limit over WebSocket; HTTP forwards it unchanged`;
      throw new SvcError('bad_gateway', message);
    }
  }

  async #event({ event, data }: ChunkEvent): Promise<void> {
    if (this.#failed || data === undefined || data === '' || data === '[DONE]') return;
    const { form, requestId } = this.#options;
    if (form.isHeldBack(event, data)) return;
    const payload = parseJson(data);
    const failure = failureIn(event, data, payload);
    if (failure !== undefined) return this.#sendLast(form.failureTexts(failure, requestId));
    // The client expects objects: a partial event or invalid JSON is not sent.
    if (!isObject(payload)) return;
    form.onEvent?.(payload);
    await this.#send(data);
  }

  /** Sends the error messages, after which nothing may follow. */
  async #sendLast(texts: readonly string[]): Promise<void> {
    this.#failed = true;
    for (const text of texts) await this.#send(text);
  }

  async end(): Promise<void> {
    if ((await this.#decoder?.end()) === false) throw undecodableAnswer(this.#encoding);
    await this.#taken;
    const rest = this.#splitter?.rest();
    if (rest !== undefined) await this.#event(rest);
    if (this.#splitter === undefined) await this.#endDocument();
    else if (!this.#failed && this.#observer?.isCutShort() === true) throw streamCutShort();
    if (this.#failed) return;
    for (const text of this.#options.form.endTexts(this.#observer?.usage())) await this.#send(text);
  }

  #endDocument(): Promise<void> {
    const { form, requestId } = this.#options;
    const text = Buffer.concat(this.#document).toString('utf8');
    const { status = 0, headers = [] } = this.#head ?? {};
    if (status >= 400)
      return this.#sendLast(form.refusalTexts({ text, status, headers, requestId }));
    if (text !== '' && parseJson(text) === undefined) {
      throw new SvcError('bad_gateway', 'The provider answered with something that is not JSON');
    }
    return text === '' ? Promise.resolve() : this.#send(form.documentText(text));
  }

  async fail(error: SvcError): Promise<void> {
    if (this.#failed || this.#options.socket.readyState !== this.#options.socket.OPEN) return;
    await this.#sendLast([this.#options.form.errorText(error, this.#options.requestId)]);
  }

  async #send(text: string): Promise<void> {
    const { socket, signal } = this.#options;
    if (signal.aborted) throw signal.reason;
    const payload = this.#options.gzip ? await compress(text) : text;
    if (socket.readyState !== socket.OPEN) throw closedError();
    const sent = cancellable(signal, (done) =>
      // A frame fails when its socket is gone, which may be known here before 'close' is emitted.
      socket.send(payload, { binary: this.#options.gzip }, (error) =>
        done(error ? closedError(error) : undefined),
      ),
    );
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) await sent;
    else sent.catch(() => undefined);
  }
}

function closedError(cause?: Error): SvcError {
  return new SvcError('cancelled', 'The WebSocket is closed', { cause });
}
