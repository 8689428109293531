/**
 * A sink that keeps the beginning of the response that it forwards, for a log with response bodies.
 * An encoded response is decoded: the copy is for people.
 */
import type { Sink, SvcError } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { headerValue } from '../../stages/model/headers.ts';
import { createDecoder } from '../../stages/wire/decode.ts';
import type { Decoder } from '../../stages/wire/decode.ts';

/** The kept part of a response. */
export interface AnswerCopy {
  readonly bytes: Buffer;
  /** Size of the whole response, decoded. */
  readonly sizeBytes: number;
}

export class CopyingSink implements Sink<ProxyFrame> {
  readonly #sink: Sink<ProxyFrame>;
  readonly #mostBytes: number;
  readonly #kept: Buffer[] = [];
  #sizeBytes = 0;
  #decoder: Decoder | undefined;

  /** Forwards everything to `sink`, and keeps up to `mostBytes`. */
  constructor(sink: Sink<ProxyFrame>, mostBytes: number) {
    this.#sink = sink;
    this.#mostBytes = mostBytes;
  }

  whole(frames: readonly ProxyFrame[]): Promise<void> | void {
    for (const frame of frames) this.#see(frame);
    return this.#sink.whole(frames);
  }

  write(frame: ProxyFrame): Promise<void> | void {
    this.#see(frame);
    return this.#sink.write(frame);
  }

  before(): ReadableWritablePair<ProxyFrame, ProxyFrame> | undefined {
    return this.#sink.before?.();
  }

  end(): Promise<void> | void {
    return this.#sink.end();
  }

  fail(error: SvcError): Promise<void> | void {
    return this.#sink.fail(error);
  }

  /** Returns what was received of the provider's response; undefined if there was none. */
  async copy(): Promise<AnswerCopy | undefined> {
    await this.#decoder?.end();
    if (this.#decoder === undefined) return undefined;
    return { bytes: Buffer.concat(this.#kept), sizeBytes: this.#sizeBytes };
  }

  #see(frame: ProxyFrame): void {
    if (frame.kind === 'chunk') this.#decoder?.push(frame.bytes);
    if (frame.kind !== 'head') return;
    const encoding = headerValue(frame.headers, 'content-encoding');
    this.#decoder = createDecoder(encoding, (bytes) => this.#keep(bytes));
  }

  #keep(bytes: Buffer): void {
    const room = Math.max(0, this.#mostBytes - this.#sizeBytes);
    this.#sizeBytes += bytes.length;
    if (room > 0) this.#kept.push(bytes.subarray(0, room));
  }
}
