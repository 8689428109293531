/** Decodes a response for a client that reads objects and never saw a `Content-Encoding`. */
import type { Transform } from 'node:stream';
import type { CancelSignal } from '../../engine/index.ts';
import { undecodableAnswer } from '../../stages/model/errors.ts';
import { openDecoding } from '../../stages/wire/decode.ts';
import { Expansion } from '../../stages/wire/expansion.ts';

/** Decodes one response. On any failure `push` or `end` rejects. */
export class Decoding {
  readonly #encoding: string;
  readonly #signal: CancelSignal;
  readonly #take: (bytes: Buffer) => Promise<void>;
  #stream: Transform | undefined;
  #taken: Promise<void> | undefined;
  readonly #expansion = new Expansion();

  /**
   * `encoding` is the response's `Content-Encoding`. `take` receives the decoded bytes; decoding
   * pauses until its promise settles.
   */
  constructor(encoding: string, signal: CancelSignal, take: (bytes: Buffer) => Promise<void>) {
    this.#encoding = encoding;
    this.#signal = signal;
    this.#take = take;
  }

  /** Resolves when there is room for more. */
  async push(bytes: Buffer): Promise<void> {
    const stream = (this.#stream ??= this.#open(bytes));
    this.#expansion.in(bytes);
    if (stream.write(bytes)) return;
    const room = new Promise<void>((resolve) => stream.once('drain', resolve));
    await Promise.race([room, this.#taken]);
  }

  /** Resolves when all bytes have been passed to `take`. */
  async end(): Promise<void> {
    this.#stream?.end();
    await this.#taken;
  }

  /** Discards bytes that have not been taken. */
  stop(): void {
    this.#stream?.destroy();
  }

  #open(first: Buffer): Transform {
    const stream = openDecoding(this.#encoding, first);
    if (stream === undefined) throw undecodableAnswer(this.#encoding);
    const signal = this.#signal;
    const stop = (): void => void stream.destroy(toError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    this.#taken = this.#takeFrom(stream);
    this.#taken.catch(() => undefined);
    return stream;
  }

  async #takeFrom(stream: Transform): Promise<void> {
    try {
      for await (const piece of stream) {
        if (!this.#expansion.out(piece as Buffer)) throw undecodableAnswer(this.#encoding);
        await this.#take(piece as Buffer);
      }
    } catch (thrown) {
      // Only zlib's own errors have a number.
      const isCoder = thrown instanceof Error && 'errno' in thrown;
      throw isCoder ? undecodableAnswer(this.#encoding, { cause: thrown }) : thrown;
    }
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('cancelled');
}
