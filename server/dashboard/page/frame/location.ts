/** The view and its filters, which live in the address alone: a link shows what its sender saw. */
import { createStore, useStore } from '../store.ts';

const BASE = '/dashboard';
/** A monitor's port has this view at the root. */
const MONITOR_VIEW = 'live';

/** Filters that an address may have, besides the range. */
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
  /** The first part of the path; empty for the overview. */
  readonly view: string;
  /** What follows, such as a request's id. */
  readonly id: string;
  readonly query: URLSearchParams;
}

/** True where an address asks for less than all of a range. */
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

/** The address of a view with the present range and filters, or with those of `change`; null takes one away. */
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

/** Goes there. `replace` leaves no entry to come back to, as for each letter of a filter. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.set(read());
}

/** Follows a link within the page, unless the person wants a new tab. */
export function follow(event: MouseEvent & { currentTarget: EventTarget }): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go((event.currentTarget as HTMLAnchorElement).getAttribute('href') ?? BASE);
}

/** Changes filters of the present view. */
export function setFilters(change: Readonly<Record<string, string | null>>, replace = false): void {
  const { view, id } = route.get();
  go(addressOf(id === '' ? view : `${view}/${id}`, change), replace);
}
