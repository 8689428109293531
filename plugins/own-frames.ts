/**
 * Frames made by a plugin. A stage written without types can emit anything: what cannot be sent, or
 * is out of order, is a fault of the stage rather than a broken answer.
 */
import type { ChunkFrame, ProxyFrame } from '../stages/model/frame.ts';
import { checkedHead } from './own-head.ts';

/** Returns a frame that can be sent; anything else is returned as it is. Throws for a faulty one. */
export function checkedFrame(frame: unknown): unknown {
  if (!isFrame(frame)) return frame;
  if (frame.kind === 'head') return checkedHead(frame);
  return frame.kind === 'chunk' ? checkedChunk(frame) : frame;
}

function isFrame(frame: unknown): frame is ProxyFrame {
  return typeof frame === 'object' && frame !== null && 'kind' in frame;
}

function checkedChunk(chunk: ChunkFrame): ChunkFrame {
  const { bytes } = chunk as { readonly bytes: unknown };
  if (Buffer.isBuffer(bytes)) return chunk;
  if (!(bytes instanceof Uint8Array))
    throw new TypeError('the bytes of its chunk are not a Uint8Array');
  return { ...chunk, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/**
 * The frames that a stage's stream emits, in their order: a request on the way in, or a head, chunks
 * and an end.
 */
export class EmittedFrames {
  #isBegun: boolean;
  #isOver = false;
  #isAnswer: boolean;

  /** `isBegun`: the head has already been sent. */
  constructor(isAnswer: boolean, isBegun = false) {
    this.#isAnswer = isAnswer;
    this.#isBegun = isBegun;
  }

  /** Called with each frame that goes into the stream. */
  noteInput({ kind }: ProxyFrame): void {
    if (kind === 'head') this.#isAnswer = true;
  }

  /** Returns a frame that can be sent. Throws for any other. */
  next(emitted: unknown): ProxyFrame {
    const frame = checkedFrame(emitted);
    if (!isFrame(frame)) throw new TypeError(`it emitted ${describe(frame)} in place of a frame`);
    const { kind } = frame;
    const isOfRequest = kind === 'body' || kind === 'request';
    if (isOfRequest && !this.#isAnswer) {
      this.#isOver = true;
      return frame;
    }
    this.#isAnswer = true;
    const isInOrder = this.#isBegun
      ? !this.#isOver && (kind === 'chunk' || kind === 'end')
      : kind === 'head';
    if (!isInOrder) throw new TypeError(`it emitted a '${kind}' ${this.#position()}`);
    this.#isBegun = true;
    this.#isOver = kind === 'end';
    return frame;
  }

  /** Throws if the stream may not close here. */
  close(): void {
    if (this.#isOver) return;
    if (this.#isAnswer) throw new TypeError("its answer stops without an 'end'");
    throw new TypeError('it closed its stream before it emitted a frame');
  }

  #position(): string {
    if (this.#isOver) return "after the 'end'";
    return this.#isBegun ? "after the 'head'" : "before the 'head'";
  }
}

/** Returns the frames of a complete answer. Throws if they are none. */
export function wholeAnswer(frames: readonly unknown[]): readonly ProxyFrame[] {
  const emitted = new EmittedFrames(true);
  const answer = frames.map((frame) => emitted.next(frame));
  emitted.close();
  return answer;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  return 'an object without a kind';
}
