/** The requests in the current range and filters: from the ledger, and live as they end. */
import { useEffect, useState } from 'preact/hooks';
import type { RequestJson, RequestsJson } from '../../contract.ts';
import { getJson } from '../api.ts';
import { gaps, onRows } from '../live.ts';
import { FILTERS } from '../frame/location.ts';
import { rangeOf, sinceMsOf } from '../frame/ranges.ts';
import { mergeRequests } from './request-list.ts';
import { comparatorOf, orderOf } from './row-order.ts';
import { useStore } from '../store.ts';

/** Rows fetched at first, rows fetched on each scroll to the end, and the limit on all rows. */
const FIRST = 300;
const PART = 10_000;
const MAX_LOADED = 100_000;

export interface Requests {
  /** In the order given by the URL; undefined until the ledger has answered. */
  readonly rows: readonly RequestJson[] | undefined;
  readonly complete: boolean;
  readonly error: string | undefined;
  /** Fetches the next rows. */
  readonly more: () => void;
}

/** Returns the range and filters of the URL as query parameters for the proxy. */
export function queryOf(query: URLSearchParams, nowMs = Date.now()): URLSearchParams {
  const params = new URLSearchParams();
  const sinceMs = sinceMsOf(rangeOf(query), nowMs);
  if (sinceMs > 0) params.set('since', new Date(sinceMs).toISOString());
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value !== null && value !== '') params.set(name, value);
  }
  return params;
}

/** Returns true if the proxy would list the request under these filters. */
function matches(row: RequestJson, query: URLSearchParams): boolean {
  const param = (name: string): string => query.get(name) ?? '';
  const model = param('model').toLowerCase();
  return (
    (model === '' || (row.model ?? '').toLowerCase().includes(model)) &&
    (param('provider') === '' || row.provider === param('provider')) &&
    (param('client') === '' || row.client === param('client')) &&
    (param('session') === '' || row.session_id === param('session')) &&
    (param('project') === '' || row.project === param('project')) &&
    (param('key') === '' || row.key === param('key')) &&
    hasWords(row, param('q')) &&
    (param('outcome') === '' || row.outcome === param('outcome')) &&
    (param('failed') !== '1' || row.failed)
  );
}

/** Searches as the proxy does: every word must be part of the id or of a name. */
function hasWords(row: RequestJson, words: string): boolean {
  if (words.trim() === '') return true;
  const names = [row.request_id, row.model, row.model_requested, row.provider, row.client];
  const marks = [row.key, row.project, row.session_id, row.skill, row.node];
  const ends = [row.error_kind, row.error_code, row.endpoint, row.outcome];
  const all = [...names, ...marks, ...ends].join('\n').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

export function useRequests(query: URLSearchParams): Requests {
  const order = orderOf(query);
  // A different choice of columns needs no new request.
  const key = `${queryOf(query, 0).toString()} ${rangeOf(query).id} ${order.by} ${order.isAscending}`;
  const gap = useStore(gaps);
  /** Number of rows loaded when more were requested. */
  const [offset, setOffset] = useState(0);
  const [loaded, setLoaded] = useState<RequestsJson>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    setOffset(0);
    setLoaded(undefined);
  }, [key]);
  // Requests that ended while the connection was down are at the start of the list.
  useEffect(() => setOffset(0), [gap]);
  useEffect(() => {
    const abort = new AbortController();
    const params = queryOf(query);
    const compare = comparatorOf(order);
    params.set('limit', String(offset === 0 ? FIRST : PART));
    if (offset > 0) params.set('offset', String(offset));
    params.set('sort', order.by);
    params.set('order', order.isAscending ? 'asc' : 'desc');
    getJson<RequestsJson>(`/dashboard/api/requests?${params.toString()}`, abort.signal).then(
      (found) => {
        setError(undefined);
        setLoaded((known) => ({
          ...found,
          requests: mergeRequests(known?.requests ?? [], found.requests, compare, MAX_LOADED),
        }));
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted)
          setError(thrown instanceof Error ? thrown.message : String(thrown));
      },
    );
    const unwatch = onRows((rows) => {
      const matching = rows.filter((row) => matches(row, query));
      if (matching.length === 0) return;
      setLoaded((known) => ({
        complete: known?.complete ?? false,
        requests: mergeRequests(matching.toReversed(), known?.requests ?? [], compare, MAX_LOADED),
      }));
    });
    return () => {
      abort.abort();
      unwatch();
    };
  }, [key, offset, gap]);
  return {
    rows: loaded?.requests,
    complete: loaded?.complete ?? false,
    error,
    more: () => {
      const count = loaded?.requests.length ?? 0;
      if (loaded !== undefined && !loaded.complete && count < MAX_LOADED) setOffset(count);
    },
  };
}
