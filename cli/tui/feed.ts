/** Follows the running proxy's live events; reconnects as long as there is a listener. */
import type { Clock } from '../../engine/clock.ts';
import { isSvcError } from '../../engine/error.ts';
import { SILENCE_MS, createFeedReader } from '../../server/dashboard/page/feed-events.ts';
import type { FeedEvents } from '../../server/dashboard/page/feed-events.ts';
import { openOwn } from '../remote.ts';

export interface FeedListener extends FeedEvents {
  /** The connection is open, or open again. */
  opened(): void;
  /** The connection is lost; the lines state cause and cure. */
  lost(problem: readonly string[]): void;
}

const RETRY_MS = [500, 1000, 2000];

/** Follows the proxy of a home folder until `signal` is aborted. */
export async function followEvents(
  home: string,
  clock: Clock,
  listener: FeedListener,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let problem: readonly string[] = ['The proxy has ended the connection.'];
    try {
      await listen(home, listener, signal, () => (failures = 0));
    } catch (thrown) {
      if (isSvcError(thrown))
        problem = [thrown.message, ...(thrown.cure === undefined ? [] : [thrown.cure])];
      else if (thrown instanceof Error) problem = [`The connection broke: ${thrown.message}`];
    }
    if (signal.aborted) return;
    listener.lost(problem);
    await pause(clock, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]!, signal);
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(ms, done);
    function done(): void {
      stop();
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}

async function listen(
  home: string,
  listener: FeedListener,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  const events = await openOwn(home, '/dashboard/events', { silenceMs: SILENCE_MS, signal });
  onOpen();
  listener.opened();
  const take = createFeedReader(listener);
  for await (const piece of events) take(piece as Buffer);
}
