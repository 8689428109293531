/**
 * Requests to the proxy. If it requires a key, the user is asked for one; the session is an
 * HttpOnly cookie.
 */
import { createStore } from './store.ts';

/** An unsuccessful response, with the proxy's message. */
export class ResponseError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Incremented at every login. */
export const logins = createStore(0);
/** True once a response was 401; false again after a success. */
export const needsKey = createStore(false);

/** Local storage key that records the existence of the cookie. */
const HAS_COOKIE = 'svc-has-cookie';

export async function open(path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(path, { signal, cache: 'no-store', credentials: 'same-origin' });
  if (response.status === 401) needsKey.set(true);
  if (response.ok) {
    needsKey.set(false);
    return response;
  }
  throw new ResponseError(response.status, await messageOf(response));
}

export async function getJson<T>(path: string, signal: AbortSignal): Promise<T> {
  const response = await open(path, signal);
  return (await response.json()) as T;
}

/**
 * Exchanges a key, or the token of a link, for a cookie. Rejects with a `ResponseError` if it is
 * refused.
 */
export async function logIn(proof: { readonly key: string } | { readonly link: string }) {
  const response = await fetch('/dashboard/login', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(proof),
  });
  if (!response.ok) throw new ResponseError(response.status, await messageOf(response));
  needsKey.set(false);
  localStorage.setItem(HAS_COOKIE, 'yes');
  logins.set(logins.get() + 1);
}

/** Returns true if the browser was given a session cookie, which scripts cannot see. */
export function mayLogOut(): boolean {
  return localStorage.getItem(HAS_COOKIE) !== null;
}

/** Ends the session and reloads the page. Rejects if the proxy does not answer or refuses. */
export async function logOut(): Promise<void> {
  const response = await fetch('/dashboard/logout', { method: 'POST', credentials: 'same-origin' });
  if (!response.ok) throw new ResponseError(response.status, await messageOf(response));
  localStorage.removeItem(HAS_COOKIE);
  location.reload();
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: { message?: string } };
    return error?.message ?? response.statusText;
  } catch {
    return response.statusText;
  }
}
