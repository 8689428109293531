/** Talks to the running proxy: commands and figures over its control socket. */
import { request } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { SvcError } from '../engine/error.ts';
import type { ErrorKind } from '../engine/error.ts';
import { controlPath } from '../server/control/control.ts';
import { isObject, parseJson } from '../stages/dialect/json-kind.ts';
import { reasonOf } from '../stages/disk-reason.ts';
import { toReachableUrl } from './address.ts';

/** Largest response that is read. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/**
 * Longest silence during a response: a report over a large ledger takes a while on a busy machine.
 */
const RESPONSE_MS = 30_000;
/**
 * Requests that a healthy proxy answers at once, and a port's identity; callers can continue
 * without them.
 */
const QUICK: ReadonlySet<string> = new Set(['status', 'stop']);
const QUICK_MS = 5000;
/** After this time the proxy is checked for life: one that hangs is not waited for any longer. */
const HANG_CHECK_MS = 3000;
/** Timeout for data that a command can do without. */
export const OPTIONAL_MS = 2000;

/** Error kind for a refusal by the proxy, by status. */
const REFUSALS: ReadonlyMap<number, ErrorKind> = new Map([
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [404, 'not_found'],
  [429, 'rate_limited'],
  [502, 'bad_gateway'],
  // `unavailable` would mean that no proxy runs.
  [503, 'bad_gateway'],
  [504, 'gateway_timeout'],
]);

/** JSON in a proxy's response. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * Sends a command to this home folder's proxy and returns its response, of the type that the caller
 * states, since it is our own proxy.
 *
 * @throws SvcError with the proxy's words and the kind of `REFUSALS` if it refuses, else `config`;
 * `unavailable` if none runs, `bad_gateway` if it does not respond.
 */
export async function control<T = Json>(
  home: string,
  command: string,
  input?: unknown,
  silenceMs = QUICK.has(command) ? QUICK_MS : undefined,
): Promise<T> {
  const body = input === undefined ? '' : JSON.stringify(input);
  const { status, json } = await send(
    { socketPath: controlPath(home), path: `/${command}`, method: 'POST' },
    body,
    silenceMs,
  );
  if (status === 200) return json as T;
  const kind = REFUSALS.get(status) ?? 'config';
  throw new SvcError(kind, messageOf(json) ?? `The proxy answered ${command} with ${status}`);
}

/** Like `control`, but undefined if no proxy runs. */
export async function controlIfRunning<T = Json>(
  home: string,
  command: string,
  input?: unknown,
  silenceMs?: number,
): Promise<T | undefined> {
  try {
    return await control<T>(home, command, input, silenceMs);
  } catch (thrown) {
    if (thrown instanceof SvcError && thrown.kind === 'unavailable') return undefined;
    throw thrown;
  }
}

/**
 * Reads one of the own paths of this home folder's proxy, which needs no key here. `silenceMs` is
 * the longest wait without receiving a byte; for callers that can do without the response.
 *
 * @throws SvcError `not_found` for a 404, `bad_gateway` if it does not respond with JSON,
 * `unavailable` if none runs, or the status is not 200.
 */
export function readOwn<T = Json>(home: string, path: string, silenceMs?: number): Promise<T> {
  return read<T>({ socketPath: controlPath(home), path }, path, silenceMs);
}

/** Reads public data over HTTP from whatever listens at `url`. */
export function readJson(url: string, path: string): Promise<Json> {
  const target = new URL(path, toReachableUrl(url));
  const hostname = target.hostname.replace(/^\[|\]$/g, '');
  const { port, pathname, search } = target;
  return read({ hostname, port, path: pathname + search }, target.href, QUICK_MS);
}

/**
 * Opens a response of this home folder's proxy that continues until `signal` or the proxy ends it,
 * or nothing arrives for `silenceMs`. Throws like `readOwn`.
 */
export function openOwn(
  home: string,
  path: string,
  { silenceMs, signal }: { readonly silenceMs: number; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      socketPath: controlPath(home),
      path,
      agent: false,
      timeout: silenceMs,
      signal,
    };
    const call = request(options, (response) => {
      if (response.statusCode === 200) resolve(response);
      else
        readResponse(response).then(
          ({ status, json }) => reject(refused(status, json, path)),
          (cause: Error) => reject(connectionError(cause)),
        );
    });
    call.on('timeout', () => call.destroy(new Error('no answer in time')));
    call.on('error', (cause) => reject(connectionError(cause)));
    call.end();
  });
}

async function read<T>(where: RequestOptions, name: string, silenceMs?: number): Promise<T> {
  const { status, json } = await send({ ...where, method: 'GET' }, '', silenceMs);
  if (status === 200) return json as T;
  throw refused(status, json, name);
}

function refused(status: number, json: Json, name: string): SvcError {
  const kind = status === 404 ? 'not_found' : 'unavailable';
  return new SvcError(kind, messageOf(json) ?? `${name} answered ${status}`);
}

/** Without `silenceMs` a healthy proxy may take its time. */
function send(
  options: RequestOptions,
  body: string,
  silenceMs?: number,
): Promise<{ status: number; json: Json }> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(connectionError(cause));
    const headers = {
      Accept: 'application/json',
      ...(body !== '' && { 'Content-Type': 'application/json' }),
    };
    const timeout = silenceMs ?? RESPONSE_MS;
    const call = request({ ...options, headers, agent: false, timeout }, (response) => {
      clearTimeout(hangCheck);
      readResponse(response).then(resolve, fail);
    });
    const giveUp = (): void => void call.destroy(new Error('no answer in time'));
    const hangCheck =
      silenceMs === undefined
        ? setTimeout(() => ifHung(options.socketPath, giveUp), HANG_CHECK_MS)
        : undefined;
    call.on('timeout', giveUp);
    call.on('error', fail);
    call.on('close', () => clearTimeout(hangCheck));
    call.end(body);
  });
}

/** Calls `then` if the proxy on a control socket does not even report its status. */
function ifHung(socketPath: string | null | undefined, then: () => void): void {
  if (typeof socketPath !== 'string') return;
  const probe = { socketPath, path: '/status', method: 'POST' };
  send(probe, '', QUICK_MS).catch(then);
}

function readResponse(response: IncomingMessage): Promise<{ status: number; json: Json }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    response.on('data', (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes > MAX_RESPONSE_BYTES) response.destroy(new Error('the answer is too large'));
      else pieces.push(piece);
    });
    response.on('error', reject);
    response.on('end', () => {
      const json = parseJson(Buffer.concat(pieces).toString('utf8'));
      if (isObject(json)) resolve({ status: response.statusCode ?? 0, json });
      else reject(new Error('the answer is not JSON'));
    });
  });
}

/** Errors of connecting to a socket whose folder cannot be used, whether or not a proxy runs. */
const UNUSABLE_FOLDER_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ENOTDIR', 'ELOOP']);

/**
 * Returns `unavailable` if there is no listener, `config` if that cannot be determined,
 * `bad_gateway` if there is a listener that does not respond.
 */
export function connectionError(cause: Error): SvcError {
  const { code, address } = cause as NodeJS.ErrnoException & { readonly address?: string };
  if (code !== undefined && UNUSABLE_FOLDER_CODES.has(code))
    return new SvcError('config', `Cannot use ${address ?? 'the socket'}: ${reasonOf(cause)}`, {
      cause,
      cure: 'Run svc as the user whose home folder it is, or name another one with SVC_HOME.',
    });
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return new SvcError('unavailable', 'svc is not running', {
      cause,
      cure: '`svc start --background` starts it. SVC_HOME must be the same for both.',
    });
  return new SvcError('bad_gateway', `svc runs, but does not answer: ${cause.message}`, {
    cause,
    cure: 'If that lasts, `svc restart --force`; `svc status` and `svc logs` show what is known of it.',
  });
}

function messageOf(json: Json): string | undefined {
  const { error } = json;
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined;
  return typeof error.message === 'string' ? error.message : undefined;
}
