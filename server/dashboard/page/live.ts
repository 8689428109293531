/** Live updates from the proxy, received as server-sent events. */
import type { LiveState, RequestJson } from '../contract.ts';
import { logins, needsKey, open } from './api.ts';
import { SILENCE_MS, createFeedReader, withLog } from './feed-events.ts';
import type { FeedEvents } from './feed-events.ts';
import { createStore } from './store.ts';

export type Connection = 'connecting' | 'live' | 'lost';

export const connection = createStore<Connection>('connecting');
export const state = createStore<LiveState | undefined>(undefined);
/** The newest lines of the log, oldest first, as JSON. */
export const logLines = createStore<readonly string[]>([]);
/** Incremented after every lost connection: requests that ended meanwhile were not reported. */
export const gaps = createStore(0);
/** Incremented whenever requests have ended that the figures do not include yet. */
export const updates = createStore(0);

type RowsListener = (rows: readonly RequestJson[], skipped: number) => void;
const rowsListeners = new Set<RowsListener>();

/** Calls `listener` with requests as they end, oldest first; the returned function unsubscribes. */
export function onRows(listener: RowsListener): () => void {
  rowsListeners.add(listener);
  return () => rowsListeners.delete(listener);
}

const RETRY_MS = [500, 1000, 2000, 5000];

/** Keeps a connection open until `signal` aborts. */
export async function stayConnected(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    try {
      await listen(signal, () => (failures = 0));
    } catch {
      // Whatever the error, connect again.
    }
    if (signal.aborted) return;
    connection.set('lost');
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 5000);
    failures += 1;
  }
}

/** Waits for `ms`, or until login: if a key is needed, one minute at most. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(done, needsKey.get() ? 60_000 : ms);
    const unwatch = logins.watch(done);
  });
}

async function listen(signal: AbortSignal, onOpen: () => void): Promise<void> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  signal.addEventListener('abort', stop);
  // Going to sleep or changing networks is reported before the silence would be noticed.
  window.addEventListener('offline', stop);
  let silence = setTimeout(stop, SILENCE_MS);
  try {
    const response = await open('/dashboard/events', abort.signal);
    onOpen();
    if (connection.get() === 'lost') {
      gaps.set(gaps.get() + 1);
      updates.set(updates.get() + 1);
    }
    connection.set('live');
    // Every new connection sends the earlier log lines again.
    logLines.set([]);
    const take = createFeedReader(EVENTS);
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE_MS);
      take(value);
    }
  } finally {
    clearTimeout(silence);
    window.removeEventListener('offline', stop);
    signal.removeEventListener('abort', stop);
    stop();
  }
}

const EVENTS: FeedEvents = {
  state: (live) => state.set(live),
  log: (log) => logLines.set(withLog(logLines.get(), log)),
  rows({ requests, skipped }) {
    for (const listener of rowsListeners) listener(requests, skipped);
    updates.set(updates.get() + 1);
  },
};
