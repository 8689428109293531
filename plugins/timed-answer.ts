/**
 * A live answer that a plugin's handler returned, with a time limit for each frame that the client
 * waits for.
 */
import type { Clock } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import { EmittedFrames } from './own-frames.ts';
import { stageFault } from './stage-fault.ts';
import type { ReportFault } from './stage-fault.ts';

export interface TimedAnswerOptions {
  readonly node: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly report: ReportFault;
  /** True if the answer's head has already been sent. */
  readonly isBegun: boolean;
}

/** Throws if `answer` is read by something else. */
export function timedAnswer(
  answer: ReadableStream<unknown>,
  { node, timeoutMs, clock, report, isBegun }: TimedAnswerOptions,
): ReadableStream<ProxyFrame> {
  const reader = answer.getReader();
  const emitted = new EmittedFrames(true, isBegun);
  return new ReadableStream<ProxyFrame>(
    {
      async pull(controller) {
        try {
          const { done, value } = await withTimeout(reader.read(), timeoutMs, clock);
          if (!done) return controller.enqueue(emitted.next(value));
          emitted.close();
          return controller.close();
        } catch (thrown) {
          reader.cancel(thrown).catch(() => undefined);
          const fault = stageFault(node, thrown);
          report(fault.message, thrown);
          throw fault;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Settles as `work` does, or rejects after `timeoutMs`. */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(timeoutMs, () =>
      reject(new Error(`it took longer than ${timeoutMs} ms`)),
    );
    work.then(resolve, reject).finally(stop);
  });
}
