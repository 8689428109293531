/** What the proxy reports as it happens, by server-sent events. */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import type { LiveRows, LiveState, RequestJson } from '../contract.ts';
import { needsKey, open, proxyKey } from './api.ts';
import { createStore } from './store.ts';

export type Connection = 'connecting' | 'live' | 'lost';

export const connection = createStore<Connection>('connecting');
export const state = createStore<LiveState | undefined>(undefined);
/** Counts up whenever requests have ended that figures do not know yet. */
export const news = createStore(0);

type RowsListener = (rows: readonly RequestJson[], skipped: number) => void;
const rowsListeners = new Set<RowsListener>();

/** Calls `listener` with requests as they end, oldest first. */
export function onRows(listener: RowsListener): () => void {
  rowsListeners.add(listener);
  return () => rowsListeners.delete(listener);
}

const RETRY_MS = [500, 1000, 2000, 5000];
/** The state comes every five seconds at the latest; a line that is silent for longer is dead. */
const SILENCE_MS = 15_000;

/** Keeps a line open for as long as the page is there. */
export async function stayConnected(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    try {
      await listen(signal, () => (failures = 0));
    } catch {
      // Whatever it was, the line is opened anew.
    }
    if (signal.aborted) return;
    connection.set('lost');
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 5000);
    failures += 1;
  }
}

/** Waits, or until a key was typed where one is needed. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(done, needsKey.get() ? 60_000 : ms);
    const unwatch = proxyKey.watch(done);
  });
}

async function listen(signal: AbortSignal, onOpen: () => void): Promise<void> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  signal.addEventListener('abort', stop);
  let silence = setTimeout(stop, SILENCE_MS);
  try {
    const response = await open('/dashboard/events', abort.signal);
    onOpen();
    connection.set('live');
    // What ended while the line was down is in the ledger.
    news.set(news.get() + 1);
    const parser = createParser({ onEvent: receive });
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE_MS);
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function receive({ event, data }: EventSourceMessage): void {
  if (event === 'state') state.set(JSON.parse(data) as LiveState);
  else if (event === 'rows') {
    const { requests, skipped } = JSON.parse(data) as LiveRows;
    for (const listener of rowsListeners) listener(requests, skipped);
    news.set(news.get() + 1);
  }
}
