/** Asks the proxy. Where it wants a key, the person is asked for one, and the browser keeps a cookie that no script can read. */
import { createStore } from './store.ts';

/** An answer that was no success, in the words of the proxy. */
export class ResponseError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Counts up whenever the proxy has let the browser in. */
export const logins = createStore(0);
/** True once an answer has said that a key is needed. */
export const needsKey = createStore(false);

/** Where the page notes that there is a cookie. */
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

/** Exchanges a key, or the token of a link, for a cookie. Rejects with what is wrong with it. */
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

/** True where the browser was given a cookie, which no script can see. */
export function mayLogOut(): boolean {
  return localStorage.getItem(HAS_COOKIE) !== null;
}

/** Ends the session, and with it what this page shows. Rejects where the proxy does not answer. */
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
