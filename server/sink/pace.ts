/**
 * `streaming.buffer_tokens`: holds the events of a stream back until so many
 * tokens are together or `flush_interval_ms` has passed, whichever comes first.
 * An event with content counts as one token, as providers send them.
 */
import type { Clock } from '../../engine/index.ts';
import type { Dialect } from '../../stages/model/dialect.ts';
import { createSplitter } from '../../stages/wire/events.ts';

export interface PaceOptions {
  /** Flush at this many tokens; at least 1. */
  readonly bufferTokens: number;
  /** Flush at the latest this long after the first byte that was held, in milliseconds. */
  readonly flushIntervalMs: number;
  readonly clock: Clock;
}

export type Pacer = ReturnType<typeof createPacer>;

const NOTHING = Buffer.alloc(0);
/** More than this is not held: what a provider sends may be no event, and never become one. */
const MAX_HELD_BYTES = 64 * 1024;

/** A pacer for one stream. */
export function createPacer({ bufferTokens, flushIntervalMs, clock }: PaceOptions) {
  const splitter = createSplitter();
  let flush: (bytes: Buffer) => void = () => undefined;
  let dialect: Dialect | undefined;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let tokens = 0;
  let stopTimer: (() => void) | undefined;

  function take(): Buffer {
    stopTimer?.();
    stopTimer = undefined;
    const bytes = held.length === 0 ? NOTHING : Buffer.concat(held);
    held = [];
    heldBytes = 0;
    tokens = 0;
    return bytes;
  }

  return {
    /** Gives the place to which bytes go when their time is up. */
    start(to: (bytes: Buffer) => void): void {
      flush = to;
    },
    /** A stream of this dialect begins. */
    begin(of: Dialect): void {
      dialect = of;
    },
    /** Takes the next bytes; returns what is due now, possibly nothing. */
    push(bytes: Buffer): Buffer {
      held.push(bytes);
      heldBytes += bytes.length;
      let isLast = false;
      for (const event of splitter.push(bytes)) {
        if (event.data === undefined) continue;
        if (dialect?.isContent(event.event, event.data) === true) tokens += 1;
        if (dialect?.isTerminator(event.event, event.data) === true) isLast = true;
      }
      if (isLast || tokens >= bufferTokens || heldBytes >= MAX_HELD_BYTES) return take();
      stopTimer ??= clock.after(flushIntervalMs, () => flush(take()));
      return NOTHING;
    },
    /** Returns what is still held; nothing is flushed afterwards. */
    end: take,
  };
}
