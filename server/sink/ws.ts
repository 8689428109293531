/**
 * The sink for WebSocket: the same answer as over HTTP, told as event objects.
 * A stream's events go out one by one, then the usage, then the end.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { WebSocket } from 'ws';
import { SvcError } from '../../engine/index.ts';
import type { CancelSignal, Sink } from '../../engine/index.ts';
import type { UsageObserver } from '../../stages/dialect/dialect.ts';
import type { HeadFrame, ProxyFrame } from '../../stages/model/frame.ts';
import { totalInputTokens } from '../../stages/model/usage.ts';
import { createSplitter } from '../../stages/wire/sse-split.ts';
import type { SseSplitter } from '../../stages/wire/sse-split.ts';
import { errorBody } from '../error-response.ts';

const compress = promisify(gzip);

/** With more than this unsent, the run waits for the socket. */
const MAX_BUFFERED_BYTES = 256 * 1024;

export interface SocketSinkOptions {
  readonly socket: WebSocket;
  readonly signal: CancelSignal;
  readonly requestId: string;
  /** Binary frames with gzip instead of text frames. */
  readonly gzip: boolean;
}

/** The event that ends every stream; a messages stream brings its own. */
const STOP = 'message_stop';

export class SocketSink implements Sink<ProxyFrame> {
  #options: SocketSinkOptions;
  #splitter: SseSplitter | undefined;
  #document: Buffer[] = [];
  #observer: UsageObserver | undefined;
  #head: HeadFrame | undefined;
  #failed = false;

  constructor(options: SocketSinkOptions) {
    this.#options = options;
  }

  async whole(frames: readonly ProxyFrame[]): Promise<void> {
    for (const frame of frames) await this.write(frame);
    await this.end();
  }

  async write(frame: ProxyFrame): Promise<void> {
    if (frame.kind === 'head') {
      this.#head = frame;
      this.#observer = frame.request.original.dialect.observeUsage(frame.streaming);
      if (frame.streaming && frame.status < 400) this.#splitter = createSplitter();
      return;
    }
    if (frame.kind !== 'chunk') return;
    this.#observer?.push(frame.metered ?? frame.bytes);
    if (this.#splitter === undefined) {
      this.#document.push(frame.bytes);
      return;
    }
    for (const event of this.#splitter.push(frame.bytes)) {
      if (event.data !== undefined) await this.#event(event.data);
    }
  }

  /** Our own end comes after the usage, so the dialect's end is held back. */
  async #event(data: string): Promise<void> {
    if (data === '' || data === '[DONE]') return;
    if (data.includes(STOP) && /"type"\s*:\s*"message_stop"/.test(data)) return;
    await this.#send(data);
  }

  async end(): Promise<void> {
    const rest = this.#splitter?.rest();
    if (rest?.data !== undefined) await this.#event(rest.data);
    if (this.#splitter === undefined) {
      const text = Buffer.concat(this.#document).toString('utf8');
      if ((this.#head?.status ?? 0) >= 400) return this.#send(toErrorText(text, this.#head));
      await this.#send(text);
    }
    const usage = this.#observer?.usage();
    if (usage !== undefined) {
      const counts = { input_tokens: totalInputTokens(usage), output_tokens: usage.outputTokens };
      await this.#send(JSON.stringify({ type: 'stats', usage: counts }));
    }
    await this.#send(JSON.stringify({ type: STOP }));
  }

  async fail(error: SvcError): Promise<void> {
    if (this.#failed || this.#options.socket.readyState !== this.#options.socket.OPEN) return;
    this.#failed = true;
    await this.#send(errorBody(error, this.#options.requestId).toString('utf8'));
  }

  async #send(text: string): Promise<void> {
    const { socket, signal } = this.#options;
    if (signal.aborted) throw signal.reason;
    const frame = this.#options.gzip ? await compress(text) : text;
    if (socket.readyState !== socket.OPEN) throw closed();
    const slow = socket.bufferedAmount > MAX_BUFFERED_BYTES;
    const sent = new Promise<void>((resolve, reject) => {
      socket.send(frame, { binary: this.#options.gzip }, (error) => {
        // A frame fails when its socket is gone, which may be known here before 'close' tells it.
        if (error) reject(closed(error));
        else resolve();
      });
    });
    if (slow) await sent;
    else sent.catch(() => undefined);
  }
}

function closed(cause?: Error): SvcError {
  return new SvcError('cancelled', 'The WebSocket is closed', { cause });
}

/** An upstream's error as an object with `error.message`, whatever it looked like. */
function toErrorText(text: string, head: HeadFrame | undefined): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && 'error' in parsed) return text;
  } catch {
    // Not JSON: told below by its status, since a page of HTML helps nobody.
  }
  const message = `The provider answered with status ${head?.status ?? 'unknown'}`;
  return JSON.stringify({ type: 'error', error: { type: 'bad_gateway', message } });
}
