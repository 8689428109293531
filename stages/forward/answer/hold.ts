/**
 * Holds back the beginning of an answer while another provider could still take over: until the
 * first content, for ten seconds, or up to 64 KiB.
 */
import type { Clock } from '../../../engine/index.ts';
import type { Dialect } from '../../model/dialect.ts';
import type { ResponseBody } from '../../providers/response-body.ts';
import { createDecoder } from '../../wire/decode.ts';
import { createSplitter } from '../../wire/events.ts';

/** A provider that has sent no content for this long is accepted as it is. */
const MAX_HOLD_MS = 10_000;
export const MAX_HELD_BYTES = 64 * 1024;

/** Why holding ended. The body has not been consumed; reading it starts at its beginning. */
export type Held =
  | { readonly released: 'content' | 'end' | 'time' | 'size' }
  /** It failed before any content: nothing was shown to the client. */
  | { readonly failed: unknown };

/**
 * The failure of a provider that sent an error event instead of an answer: the last event that was
 * held.
 */
export class ErrorEvent extends Error {
  constructor() {
    super('the provider sent an error inside its stream');
    this.name = 'ErrorEvent';
  }
}

export interface HoldOptions {
  readonly body: ResponseBody;
  /** The body's `Content-Encoding`: a copy is decoded, the body continues unchanged. */
  readonly encoding: string | undefined;
  readonly dialect: Dialect;
  readonly clock: Clock;
}

/** Reads ahead until the answer is released or fails. Never rejects. */
export async function hold({ body, encoding, dialect, clock }: HoldOptions): Promise<Held> {
  const judge = createJudge(dialect);
  let held: Held | undefined;
  let isTimeUp = false;
  let wake = (): void => undefined;
  const stopClock = clock.after(MAX_HOLD_MS, () => {
    isTimeUp = true;
    wake();
  });
  const decoder = createDecoder(encoding, (bytes) => {
    held ??= judge.take(bytes);
    wake();
  });
  try {
    for (let seen = 0; ;) {
      const woke = new Promise<void>((resolve) => (wake = resolve));
      const { pieces, isWhole, error } = body.arrived();
      if (seen < pieces.length) decoder.push(Buffer.concat(pieces.slice(seen)));
      seen = pieces.length;
      if (isWhole || error !== undefined) {
        await decoder.end();
        held ??= error === undefined ? judge.atEnd() : { failed: error };
      }
      if (held !== undefined) return held;
      if (isTimeUp) return { released: 'time' };
      await Promise.race([body.more(), woke]);
    }
  } finally {
    stopClock();
  }
}

/** Judges what arrives: content, an error, or too much to wait any longer. */
function createJudge(dialect: Dialect) {
  const splitter = createSplitter();
  const observer = dialect.observeUsage(true);
  let heldBytes = 0;
  return {
    /** The body ended without content. */
    atEnd(): Held {
      if (observer.terminated()) return { released: 'end' };
      return { failed: new Error('its stream ended before any content') };
    },
    take(piece: Buffer): Held | undefined {
      heldBytes += piece.length;
      observer.push(piece);
      // Content first: whatever follows in the same piece is shown in any case.
      for (const { event, data } of splitter.push(piece)) {
        if (data !== undefined && dialect.isContent(event, data)) return { released: 'content' };
      }
      if (observer.failed()) return { failed: new ErrorEvent() };
      return heldBytes >= MAX_HELD_BYTES ? { released: 'size' } : undefined;
    },
  };
}
