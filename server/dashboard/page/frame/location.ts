/** The view and its filters, kept only in the URL, so that a link shows what its sender saw. */
import { createStore, useStore } from '../store.ts';

const BASE = '/dashboard';
/** The view at the root of the monitor's port. */
const MONITOR_VIEW = 'live';

/** Filters that a URL may have, besides the range. */
export const FILTERS = [
  'q',
  'model',
  'provider',
  'client',
  'project',
  'key',
  'session',
  'outcome',
  'failed',
] as const;
export type FilterName = (typeof FILTERS)[number];

export interface Route {
  /** First segment of the path; empty for the overview. */
  readonly view: string;
  /** The rest of the path, such as a request id. */
  readonly id: string;
  readonly query: URLSearchParams;
}

/** Returns true if the URL has any filter besides the range. */
export function isFiltered(query: URLSearchParams): boolean {
  return FILTERS.some((name) => query.has(name));
}

const route = createStore(read());

function read(): Route {
  if (!location.pathname.startsWith(BASE))
    return { view: MONITOR_VIEW, id: '', query: new URLSearchParams(location.search) };
  const [view = '', ...rest] = location.pathname.slice(BASE.length + 1).split('/');
  return { view, id: decode(rest.join('/')), query: new URLSearchParams(location.search) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

window.addEventListener('popstate', () => route.set(read()));

export const useRoute = (): Route => useStore(route);

/**
 * Returns the URL of a view with the current range and filters, overridden by `change`; null
 * removes one.
 */
export function addressOf(
  path: string,
  change: Readonly<Record<string, string | null>> = {},
): string {
  const query = new URLSearchParams(route.get().query);
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  return `${BASE}${path === '' ? '' : `/${path}`}${search === '' ? '' : `?${search}`}`;
}

/** Navigates to `address`. `replace` adds no history entry, as when a filter is being typed. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.set(read());
}

/** Follows a link within the page, unless a modifier key asks for a new tab. */
export function follow(event: MouseEvent & { currentTarget: EventTarget }): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go((event.currentTarget as HTMLAnchorElement).getAttribute('href') ?? BASE);
}

/** Changes filters of the current view. */
export function setFilters(change: Readonly<Record<string, string | null>>, replace = false): void {
  const { view, id } = route.get();
  go(addressOf(id === '' ? view : `${view}/${id}`, change), replace);
}
