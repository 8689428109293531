/**
 * Holds the beginning of an answer back while another provider could still take
 * over: until the first content, for ten seconds, or up to 64 KiB.
 */
import type { Clock } from '../../engine/index.ts';
import type { Dialect } from '../dialect/dialect.ts';
import type { UpstreamBody } from '../providers/upstream.ts';
import { createSplitter } from '../wire/sse-split.ts';

/** How long and how much is held back at most. */
export interface HoldLimits {
  /** A provider that has said nothing of substance for this long is taken as it is. */
  readonly ms: number;
  readonly bytes: number;
}

export const HOLD_LIMITS: HoldLimits = Object.freeze({ ms: 10_000, bytes: 64 * 1024 });

/** Why the answer was released. */
export type Release = 'content' | 'end' | 'time' | 'size';

/** The beginning of an answer, and where to read on. */
export interface Source {
  readonly pieces: readonly Buffer[];
  readonly body: UpstreamBody;
}

export type Held =
  | (Source & { readonly released: Release })
  /** It failed before any content: nothing was shown to the client. */
  | { readonly failed: unknown };

/** What failed if a provider sent an error event in place of an answer. */
export class ErrorEvent extends Error {
  /** The stream up to and including the event, to be shown if nobody else can answer. */
  readonly source: Source;
  constructor(pieces: readonly Buffer[], body: UpstreamBody) {
    super('the provider sent an error inside its stream');
    this.name = 'ErrorEvent';
    this.source = { pieces, body: ended(body) };
  }
}

/** Reads a stream of `dialect` until it is released or fails. Never rejects. */
export async function hold(
  body: UpstreamBody,
  dialect: Dialect,
  clock: Clock,
  limits: HoldLimits,
): Promise<Held> {
  const judge = createJudge(dialect, limits);
  const pieces: Buffer[] = [];
  const alarm = createAlarm(clock, limits.ms);
  try {
    for (;;) {
      const reading = body.read();
      const piece = await alarm.orSooner(reading);
      if (piece === 'time') return { released: 'time', pieces, body: resumeWith(reading, body) };
      if (piece === undefined) {
        if (judge.isComplete()) return { released: 'end', pieces, body: ended(body) };
        return { failed: new Error('its stream ended before it said anything') };
      }
      pieces.push(piece);
      const verdict = judge.take(piece);
      if (verdict === 'failed') return { failed: new ErrorEvent(pieces, body) };
      if (verdict !== undefined) return { released: verdict, pieces, body };
    }
  } catch (failed) {
    return { failed };
  } finally {
    alarm.stop();
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

function createAlarm(clock: Clock, ms: number) {
  let rang = false;
  let ring: () => void = () => undefined;
  const stop = clock.after(ms, () => {
    rang = true;
    ring();
  });
  return {
    stop,
    /** What `reading` brings, or `time` if the alarm rings first. */
    orSooner<T>(reading: Promise<T>): Promise<T | 'time'> {
      return new Promise((resolve, reject) => {
        ring = () => resolve('time');
        reading.then(resolve, reject);
        if (rang) ring();
      });
    },
  };
}

/** The rest of a body whose next piece is already being waited for. */
function resumeWith(first: Promise<Buffer | undefined>, body: UpstreamBody): UpstreamBody {
  let pending: Promise<Buffer | undefined> | undefined = first;
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
