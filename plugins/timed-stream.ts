/**
 * A plugin's own stream with a time limit. It may hold frames back as long as more of them arrive,
 * as a buffering stream does. It may not keep the client waiting while it neither takes its input
 * nor emits, and what it emits must be an answer: a faulty stream ends its own request with an error
 * that names its node.
 */
import { isSvcError } from '../engine/index.ts';
import type { Clock } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { EmittedFrames } from './own-frames.ts';
import { stageFault } from './stage-fault.ts';
import type { ReportFault } from './stage-fault.ts';

type Pair = ReadableWritablePair<ProxyFrame, ProxyFrame>;

export interface TimedStreamOptions {
  readonly node: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly report: ReportFault;
  /** Maps each frame that the stream emits. */
  readonly emitted: (frame: ProxyFrame) => ProxyFrame;
}

/** Throws what says that `pair` is no pair of streams, or that something else uses them. */
export function timedStream(pair: Pair, options: TimedStreamOptions): Pair {
  const { node, timeoutMs, clock, report, emitted } = options;
  const frames = new EmittedFrames(false);
  const writer = pair.writable.getWriter();
  const reader = pair.readable.getReader();
  /** True while it has pending input: a frame that it has not taken yet, or the end. */
  let isInputPending = false;
  let isOutputAwaited = false;
  /** The error with which it refused its input. */
  let refusal: unknown;
  let isSourceBroken = false;
  let stop: (() => void) | undefined;
  let fail: (thrown: Error) => void = () => undefined;

  function watch(): void {
    stop?.();
    stop = undefined;
    if (!isInputPending || !isOutputAwaited) return;
    stop = clock.after(timeoutMs, () => {
      fail(toFault(refusal ?? new Error(`it held a frame for longer than ${timeoutMs} ms`)));
    });
  }

  function toFault(thrown: unknown): Error {
    const fault = stageFault(node, thrown);
    if (!isSvcError(thrown)) report(fault.message, thrown);
    return fault;
  }

  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch((thrown: unknown) => {
    writer.abort(thrown).catch(() => undefined);
    reader.cancel(thrown).catch(() => undefined);
  });

  /**
   * While the input is open, taking a frame is enough. After its end, and after a refusal, the rest
   * must be emitted: a stream that ends an answer early refuses what follows.
   */
  async function passInput(taken: Promise<void>, isLast: boolean): Promise<void> {
    isInputPending = true;
    watch();
    try {
      await taken;
      isInputPending = isLast;
    } catch (thrown) {
      refusal = thrown;
      throw thrown;
    } finally {
      watch();
    }
  }

  /** Returns the next frame; undefined at the end. */
  async function read(): Promise<ProxyFrame | undefined> {
    try {
      const { done, value } = await reader.read();
      if (!done) return emitted(frames.next(value));
      if (!isSourceBroken) frames.close();
      return undefined;
    } catch (thrown) {
      reader.cancel(thrown).catch(() => undefined);
      throw toFault(thrown);
    }
  }

  return {
    writable: new WritableStream<ProxyFrame>({
      start: (controller) => {
        failed.catch((thrown: unknown) => controller.error(thrown));
      },
      write(frame) {
        frames.noteInput(frame);
        return passInput(writer.write(frame), false);
      },
      close: () => passInput(writer.close(), true),
      abort(reason) {
        isSourceBroken = true;
        return writer.abort(reason);
      },
    }),
    readable: new ReadableStream<ProxyFrame>(
      {
        start: (controller) => {
          failed.catch((thrown: unknown) => controller.error(thrown));
        },
        async pull(controller) {
          isOutputAwaited = true;
          watch();
          try {
            const frame = await read();
            if (frame === undefined) controller.close();
            else controller.enqueue(frame);
          } finally {
            isOutputAwaited = false;
            watch();
          }
        },
        async cancel(reason) {
          isOutputAwaited = false;
          watch();
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    ),
  };
}
