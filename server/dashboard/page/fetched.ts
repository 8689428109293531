/** A response from the proxy, fetched again as requests end. */
import { useEffect, useState } from 'preact/hooks';
import { getJson } from './api.ts';
import { updates } from './live.ts';
import { IDLE_MS, pauseAfter } from './pace.ts';

export interface Fetched<T> {
  /** The latest response; undefined until there is one. */
  readonly value: T | undefined;
  readonly error: string | undefined;
}

/** Fetches the path returned by `pathNow` repeatedly; a new `key` discards the old response. */
export function useFetched<T>(key: string, pathNow: () => string): Fetched<T> {
  const [result, setResult] = useState<Fetched<T>>({ value: undefined, error: undefined });
  useEffect(() => {
    setResult({ value: undefined, error: undefined });
  }, [key]);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let knownUpdates = -1;
    let isAsking = false;
    let isFirst = true;
    let notBeforeMs = 0;

    async function ask(): Promise<void> {
      isAsking = true;
      knownUpdates = updates.get();
      const startedMs = performance.now();
      try {
        const value = await getJson<T>(pathNow(), abort.signal);
        setResult({ value, error: undefined });
      } catch (thrown) {
        if (abort.signal.aborted) return;
        const error = thrown instanceof Error ? thrown.message : String(thrown);
        setResult((known) => ({ ...known, error }));
      }
      // The first response is not timed: it may include what the proxy loads on first use.
      const tookMs = isFirst ? 0 : performance.now() - startedMs;
      isFirst = false;
      notBeforeMs = performance.now() + pauseAfter(tookMs);
      isAsking = false;
      plan();
    }

    function plan(): void {
      if (isAsking || abort.signal.aborted) return;
      clearTimeout(timer);
      const waitMs = Math.max(0, notBeforeMs - performance.now());
      timer = setTimeout(() => void ask(), updates.get() === knownUpdates ? IDLE_MS : waitMs);
    }

    void ask();
    const unwatch = updates.watch(plan);
    return () => {
      abort.abort();
      clearTimeout(timer);
      unwatch();
    };
  }, [key]);
  return result;
}
