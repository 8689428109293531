/**
 * `streaming.buffer_tokens`: holds back the events of a stream until there are enough tokens or
 * `flush_interval_ms` has passed, whichever comes first. An event with content counts as one token,
 * as providers send them.
 */
import type { Clock } from '../../engine/index.ts';
import type { Dialect } from '../../stages/model/dialect.ts';
import { toChunk } from '../../stages/model/frame.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { isPlain } from '../../stages/model/headers.ts';
import { createSplitter } from '../../stages/wire/events.ts';

export interface PaceOptions {
  /** Flush at this many tokens; at least 1. */
  readonly bufferTokens: number;
  /** Longest delay of a held byte, in milliseconds. */
  readonly flushIntervalMs: number;
  readonly clock: Clock;
}

export interface Pace {
  readonly stream: TransformStream<ProxyFrame, ProxyFrame>;
  /** Returns what is held of a stream that broke off. */
  rest(): Buffer;
}

/** Limit on held bytes: the provider's data may not be events at all. */
const MAX_HELD_BYTES = 64 * 1024;

/** Creates the pace of one response. One that is not a plain event stream passes unchanged. */
export function createPace({ bufferTokens, flushIntervalMs, clock }: PaceOptions): Pace {
  const splitter = createSplitter();
  let dialect: Dialect | undefined;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let tokens = 0;
  let stopTimer: (() => void) | undefined;

  function take(): Buffer {
    stopTimer?.();
    stopTimer = undefined;
    const bytes = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    tokens = 0;
    return bytes;
  }

  /** True if the held events are due now. */
  function hold(bytes: Buffer, of: Dialect): boolean {
    held.push(bytes);
    heldBytes += bytes.length;
    let isLast = false;
    for (const event of splitter.push(bytes)) {
      if (event.data === undefined) continue;
      if (of.isContent(event.event, event.data)) tokens += 1;
      if (of.isTerminator(event.event, event.data)) isLast = true;
    }
    return isLast || tokens >= bufferTokens || heldBytes >= MAX_HELD_BYTES;
  }

  const stream = new TransformStream<ProxyFrame, ProxyFrame>({
    transform(frame, controller) {
      const flush = (): void => {
        const bytes = take();
        if (bytes.length > 0) controller.enqueue(toChunk(bytes));
      };
      if (frame.kind === 'head' && frame.streaming && isPlain(frame))
        dialect = frame.request.original.dialect;
      if (dialect === undefined || frame.kind !== 'chunk') {
        flush();
        controller.enqueue(frame);
      } else if (hold(frame.bytes, dialect)) flush();
      else
        stopTimer ??= clock.after(flushIntervalMs, () => {
          try {
            flush();
          } catch {
            // The client has left: a cancelled stream accepts nothing more.
          }
        });
    },
  });
  return { stream, rest: take };
}
