/** Asks the proxy. Where it wants a key, the person is asked for one, which stays in this tab's memory. */
import { createStore } from './store.ts';

/** An answer that was no success, in the words of the proxy. */
export class AnswerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The proxy key that was typed, if any. */
export const proxyKey = createStore('');
/** True once an answer has said that a key is needed. */
export const needsKey = createStore(false);

export async function open(path: string, signal: AbortSignal): Promise<Response> {
  const key = proxyKey.get();
  const response = await fetch(path, {
    signal,
    cache: 'no-store',
    credentials: 'same-origin',
    headers: key === '' ? {} : { 'X-Svc-Key': key },
  });
  if (response.status === 401) needsKey.set(true);
  if (response.ok) {
    needsKey.set(false);
    return response;
  }
  throw new AnswerError(response.status, await messageOf(response));
}

export async function getJson<T>(path: string, signal: AbortSignal): Promise<T> {
  const response = await open(path, signal);
  return (await response.json()) as T;
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: { message?: string } };
    return error?.message ?? response.statusText;
  } catch {
    return response.statusText;
  }
}
