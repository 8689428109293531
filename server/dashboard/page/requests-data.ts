/** The requests of the present range and filters: from the ledger, and as they end. */
import { useEffect, useState } from 'preact/hooks';
import type { RequestJson, RequestsJson } from '../contract.ts';
import { getJson } from './api.ts';
import { gaps, onRows } from './live.ts';
import { FILTERS } from './location.ts';
import { rangeOf, sinceMsOf } from './ranges.ts';
import { MOST, merged } from './request-list.ts';
import { useStore } from './store.ts';

/** Rows asked for at first, and once somebody scrolls to their end. */
const FIRST = 300;

export interface Requests {
  /** Newest first; undefined until the ledger has answered. */
  readonly rows: readonly RequestJson[] | undefined;
  readonly complete: boolean;
  readonly error: string | undefined;
  /** Asks for as many as there may be. */
  readonly more: () => void;
}

/** The address's filters, for the proxy. */
export function queryOf(query: URLSearchParams, nowMs = Date.now()): URLSearchParams {
  const asked = new URLSearchParams();
  const sinceMs = sinceMsOf(rangeOf(query), nowMs);
  if (sinceMs > 0) asked.set('since', new Date(sinceMs).toISOString());
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value !== null && value !== '') asked.set(name, value);
  }
  return asked;
}

/** True where the proxy would list the request under these filters. */
function matches(row: RequestJson, query: URLSearchParams): boolean {
  const wanted = (name: string): string => query.get(name) ?? '';
  const model = wanted('model').toLowerCase();
  return (
    (model === '' || (row.model ?? '').toLowerCase().includes(model)) &&
    (wanted('provider') === '' || row.provider === wanted('provider')) &&
    (wanted('client') === '' || row.client === wanted('client')) &&
    (wanted('session') === '' || row.session_id === wanted('session')) &&
    (wanted('outcome') === '' || row.outcome === wanted('outcome')) &&
    (wanted('failed') !== '1' || row.failed)
  );
}

export function useRequests(query: URLSearchParams): Requests {
  const key = query.toString();
  const gap = useStore(gaps);
  const [limit, setLimit] = useState(FIRST);
  const [loaded, setLoaded] = useState<RequestsJson>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    setLimit(FIRST);
    setLoaded(undefined);
  }, [key]);
  useEffect(() => {
    const abort = new AbortController();
    const asked = queryOf(query);
    asked.set('limit', String(limit));
    getJson<RequestsJson>(`/dashboard/api/requests?${asked.toString()}`, abort.signal).then(
      (found) => {
        setError(undefined);
        setLoaded((known) => ({
          ...found,
          requests: merged(known?.requests ?? [], found.requests),
        }));
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted)
          setError(thrown instanceof Error ? thrown.message : String(thrown));
      },
    );
    const unwatch = onRows((rows) => {
      const wanted = rows.filter((row) => matches(row, query));
      if (wanted.length === 0) return;
      setLoaded((known) => ({
        complete: known?.complete ?? false,
        requests: merged(wanted.toReversed(), known?.requests ?? []),
      }));
    });
    return () => {
      abort.abort();
      unwatch();
    };
  }, [key, limit, gap]);
  return {
    rows: loaded?.requests,
    complete: loaded?.complete ?? false,
    error,
    more: () => {
      if (loaded !== undefined && !loaded.complete) setLimit(MOST);
    },
  };
}
