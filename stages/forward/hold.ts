/**
 * Holds the beginning of an answer back while another provider could still take
 * over: until the first content, for ten seconds, or up to 64 KiB.
 */
import type { Clock } from '../../engine/index.ts';
import type { Dialect } from '../dialect/dialect.ts';
import type { UpstreamBody } from '../providers/upstream.ts';
import { createSplitter } from '../wire/sse-split.ts';

/** A provider that has said nothing of substance for this long is taken as it is. */
export const HOLD_MS = 10_000;
export const HOLD_BYTES = 64 * 1024;

/** Why the answer was released. */
export type Release = 'content' | 'end' | 'time' | 'size';

export type Held =
  | { readonly released: Release; readonly pieces: readonly Buffer[]; readonly body: UpstreamBody }
  /** It failed before any content: nothing was shown to the client. */
  | { readonly failed: unknown; readonly pieces: readonly Buffer[] };

/** Thrown in place of an error event that a provider sent inside a 200. */
export class ErrorEvent extends Error {
  /** The bytes up to and including the event. */
  readonly pieces: readonly Buffer[];
  constructor(pieces: readonly Buffer[]) {
    super('the provider sent an error inside its stream');
    this.name = 'ErrorEvent';
    this.pieces = pieces;
  }
}

/** Reads a stream of `dialect` until it is released or fails. Never rejects. */
export async function hold(body: UpstreamBody, dialect: Dialect, clock: Clock): Promise<Held> {
  const splitter = createSplitter();
  const observer = dialect.observeUsage(true);
  const pieces: Buffer[] = [];
  let heldBytes = 0;
  let timedOut = false;
  let wake: () => void = () => undefined;
  const stopTimer = clock.after(HOLD_MS, () => {
    timedOut = true;
    wake();
  });
  try {
    for (;;) {
      const reading = body.read();
      const piece = await Promise.race([
        reading,
        new Promise<'time'>((resolve) => {
          wake = () => resolve('time');
          if (timedOut) wake();
        }),
      ]);
      if (piece === 'time') return { released: 'time', pieces, body: resumeWith(reading, body) };
      if (piece === undefined) return { released: 'end', pieces, body: ended(body) };
      pieces.push(piece);
      heldBytes += piece.length;
      observer.push(piece);
      if (observer.failed()) return { failed: new ErrorEvent(pieces), pieces };
      const hasContent = splitter
        .push(piece)
        .some(({ event, data }) => data !== undefined && dialect.isContent(event, data));
      if (hasContent) return { released: 'content', pieces, body };
      if (heldBytes >= HOLD_BYTES) return { released: 'size', pieces, body };
    }
  } catch (failed) {
    return { failed, pieces };
  } finally {
    stopTimer();
  }
}

/** The rest of a body whose next piece is already being waited for. */
function resumeWith(first: Promise<Buffer | undefined>, body: UpstreamBody): UpstreamBody {
  let pending: Promise<Buffer | undefined> | undefined = first;
  // Whoever reads on hears of a failure; until then it must not count as unhandled.
  first.catch(() => undefined);
  return {
    read() {
      const reading = pending ?? body.read();
      pending = undefined;
      return reading;
    },
    poll: () => (pending === undefined ? body.poll() : null),
    cancel: (reason) => body.cancel(reason),
  };
}

function ended(body: UpstreamBody): UpstreamBody {
  return {
    read: () => Promise.resolve(undefined),
    poll: () => undefined,
    cancel: (reason) => body.cancel(reason),
  };
}
