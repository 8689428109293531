/**
 * A plugin's own stream with a time limit. It may hold frames back as long as more of them arrive,
 * as a buffering stream does. It may not keep the client waiting while it neither takes its input
 * nor emits: a stream that hangs ends its own request with an error that names its node.
 */
import type { Clock } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import type { ReportFault } from './guarded.ts';

type Pair = ReadableWritablePair<ProxyFrame, ProxyFrame>;

export interface TimedStreamOptions {
  readonly node: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly report: ReportFault;
  /** Maps each frame that the stream emits. */
  readonly emitted: (frame: ProxyFrame) => ProxyFrame;
}

export function timedStream(pair: Pair, options: TimedStreamOptions): Pair {
  const { node, timeoutMs, clock, report, emitted } = options;
  const writer = pair.writable.getWriter();
  const reader = pair.readable.getReader();
  /** True while it has pending input: a frame that it has not taken yet, or the end. */
  let isInputPending = false;
  let isOutputAwaited = false;
  let stop: (() => void) | undefined;
  let fail: (thrown: Error) => void = () => undefined;

  function watch(): void {
    stop?.();
    stop = undefined;
    if (!isInputPending || !isOutputAwaited) return;
    stop = clock.after(timeoutMs, () => {
      const thrown = new Error(`it held a request or an answer for longer than ${timeoutMs} ms`);
      report(`${node}: ${thrown.message}`, thrown);
      fail(thrown);
    });
  }

  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch((thrown: unknown) => {
    writer.abort(thrown).catch(() => undefined);
    reader.cancel(thrown).catch(() => undefined);
  });

  /** While the input is open, taking a frame is enough; after its end, the rest must be emitted. */
  async function passInput(taken: Promise<void>, isLast: boolean): Promise<void> {
    isInputPending = true;
    watch();
    try {
      await taken;
    } finally {
      isInputPending = isLast;
      watch();
    }
  }

  return {
    writable: new WritableStream<ProxyFrame>({
      start: (controller) => {
        failed.catch((thrown: unknown) => controller.error(thrown));
      },
      write: (frame) => passInput(writer.write(frame), false),
      close: () => passInput(writer.close(), true),
      abort: (reason) => writer.abort(reason),
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
            const { done, value } = await reader.read();
            if (done) controller.close();
            else controller.enqueue(emitted(value));
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
