/**
 * Holds the beginning of an answer back while another provider could still take
 * over: until the first content, for ten seconds, or up to 64 KiB.
 */
import type { Clock, Source } from '../../engine/index.ts';
import type { Dialect } from '../model/dialect.ts';
import { createSplitter } from '../wire/events.ts';

/** How long and how much is held back at most. */
export interface HoldLimits {
  /** A provider that has sent nothing of substance for this long is taken as it is. */
  readonly ms: number;
  readonly bytes: number;
}

export const HOLD_LIMITS: HoldLimits = Object.freeze({ ms: 10_000, bytes: 64 * 1024 });

/** Why the answer was released. */
export type Release = 'content' | 'end' | 'time' | 'size';

/** What was read, and why no more is held; the body goes on behind it. */
export type Held =
  | { readonly released: Release; readonly pieces: readonly Buffer[] }
  /** It failed before any content: nothing was shown to the client. */
  | { readonly failed: unknown; readonly pieces: readonly Buffer[] };

/** What failed if a provider sent an error event in place of an answer: the last of what was held. */
export class ErrorEvent extends Error {
  constructor() {
    super('the provider sent an error inside its stream');
    this.name = 'ErrorEvent';
  }
}

/** Reads a stream of `dialect` until it is released or fails. Never rejects. */
export async function hold(
  body: Source<Buffer>,
  dialect: Dialect,
  clock: Clock,
  limits: HoldLimits,
): Promise<Held> {
  const judge = createJudge(dialect, limits);
  const pieces: Buffer[] = [];
  let isTimeUp = false;
  let stopClock: () => void = () => undefined;
  const timeUp = new Promise<void>((resolve) => {
    stopClock = clock.after(limits.ms, () => {
      isTimeUp = true;
      resolve();
    });
  });
  try {
    for (;;) {
      const piece = body.poll();
      if (piece === null) {
        if (isTimeUp) return { released: 'time', pieces };
        await Promise.race([body.wait(), timeUp]);
        continue;
      }
      if (piece === undefined) {
        if (judge.isComplete()) return { released: 'end', pieces };
        return { failed: new Error('its stream ended before any content'), pieces };
      }
      pieces.push(piece);
      const verdict = judge.take(piece);
      if (verdict === 'failed') return { failed: new ErrorEvent(), pieces };
      if (verdict !== undefined) return { released: verdict, pieces };
    }
  } catch (failed) {
    return { failed, pieces };
  } finally {
    stopClock();
  }
}

/** Looks at what comes: is it content, an error, or too much to wait any longer? */
function createJudge(dialect: Dialect, { bytes: maxBytes }: HoldLimits) {
  const splitter = createSplitter();
  const observer = dialect.observeUsage(true);
  let heldBytes = 0;
  return {
    isComplete: () => observer.terminated(),
    take(piece: Buffer): 'content' | 'size' | 'failed' | undefined {
      heldBytes += piece.length;
      observer.push(piece);
      // Content first: what comes behind it in the same piece is shown in any case.
      for (const { event, data } of splitter.push(piece)) {
        if (data !== undefined && dialect.isContent(event, data)) return 'content';
      }
      if (observer.failed()) return 'failed';
      return heldBytes >= maxBytes ? 'size' : undefined;
    },
  };
}
