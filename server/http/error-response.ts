/**
 * Maps each kind of error to an HTTP status, and builds the headers and body of an error response
 * (specification, section 7). No other module does. The body is a messages-style error with the
 * request id, which that provider's clients read as their own.
 */
import { STATUS_CODES } from 'node:http';
import type { ErrorKind, SvcError } from '../../engine/error.ts';

/** HTTP form of one kind of error. */
export interface ErrorRow {
  readonly status: number;
  /** `error.type` in the body. */
  readonly type: string;
  /** Default `error.code`, for an error without a code of its own. */
  readonly code?: string;
}

/** Kind → status, type and default code. Nothing else in the project chooses a status. */
export const errorTable = Object.freeze({
  bad_request: { status: 400, type: 'bad_request' },
  unauthorized: { status: 401, type: 'unauthorized', code: 'AUTH_001' },
  spending_limit: { status: 402, type: 'spending_limit' },
  forbidden: { status: 403, type: 'forbidden' },
  not_found: { status: 404, type: 'not_found' },
  method_not_allowed: { status: 405, type: 'method_not_allowed' },
  proxy_unauthorized: { status: 407, type: 'proxy_unauthorized' },
  conflict: { status: 409, type: 'conflict' },
  payload_too_large: { status: 413, type: 'payload_too_large' },
  unsupported_media_type: { status: 415, type: 'unsupported_media_type' },
  expectation_failed: { status: 417, type: 'expectation_failed' },
  unprocessable: { status: 422, type: 'unprocessable' },
  upgrade_required: { status: 426, type: 'upgrade_required' },
  rate_limited: { status: 429, type: 'rate_limit_exceeded', code: 'RATELIMIT_001' },
  headers_too_large: { status: 431, type: 'headers_too_large' },
  internal: { status: 500, type: 'internal_error' },
  // To a client, a mistake in the configuration is an internal error of the proxy.
  config: { status: 500, type: 'internal_error' },
  usage: { status: 500, type: 'internal_error' },
  bad_gateway: { status: 502, type: 'bad_gateway' },
  circuit_open: { status: 503, type: 'circuit_open' },
  unavailable: { status: 503, type: 'upstream_unreachable' },
  // The client has left: this status is logged and hardly ever sent.
  cancelled: { status: 503, type: 'upstream_unreachable' },
  gateway_timeout: { status: 504, type: 'gateway_timeout', code: 'TIMEOUT_001' },
}) satisfies Record<ErrorKind, ErrorRow>;

/** Returns the HTTP status for `error`. */
export function errorStatus(error: SvcError): number {
  return errorTable[error.kind].status;
}

/**
 * Returns the JSON body of `error` as UTF-8. Cause, cure, node and stack never leave the process.
 */
export function errorBody(error: SvcError, requestId: string): Buffer {
  const row: ErrorRow = errorTable[error.kind];
  const code = error.code ?? row.code;
  const body = {
    type: 'error',
    error: { type: row.type, message: error.message, ...(code === undefined ? {} : { code }) },
    request_id: requestId,
  };
  return Buffer.from(JSON.stringify(body));
}

/**
 * Returns the headers of an error response with a body of `sizeBytes`. `close` means that the
 * connection cannot be reused: its framing is in doubt, or the body was not read. `Retry-After` is
 * in whole seconds, at least 1.
 */
export function errorHeaders(
  error: SvcError,
  requestId: string,
  sizeBytes: number,
  close = false,
): Record<string, string | number> {
  const headers: Record<string, string | number> = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': sizeBytes,
    'X-Request-ID': requestId,
    'Cache-Control': 'no-store',
  };
  if (error.retryAfterS !== undefined) {
    headers['Retry-After'] = Math.max(1, Math.ceil(error.retryAfterS));
  }
  if (error.kind === 'method_not_allowed') headers['Allow'] = (error.allowed ?? []).join(', ');
  if (close) headers['Connection'] = 'close';
  if (error.kind === 'upgrade_required') {
    // RFC 9110 §15.5.22 requires the field, and §7.8 its mention in `Connection`.
    headers['Upgrade'] = (error.allowed ?? []).join(', ');
    headers['Connection'] = close ? 'close, Upgrade' : 'Upgrade';
  }
  return headers;
}

/**
 * Returns an error response as raw HTTP/1.1 bytes, for a socket without a response object: a
 * refused upgrade, a parse failure. `extra` holds more headers, as a flat list.
 */
export function rawErrorResponse(
  error: SvcError,
  requestId: string,
  extra: readonly string[] = [],
): Buffer {
  const body = errorBody(error, requestId);
  const status = errorStatus(error);
  const fields = Object.entries(errorHeaders(error, requestId, body.length, true)).flat();
  const head = toLines([...fields, ...extra]);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${head}\r\n`),
    body,
  ]);
}

/** Formats a flat list of names and values as header lines. */
function toLines(fields: readonly (string | number)[]): string {
  let lines = '';
  for (let i = 0; i + 1 < fields.length; i += 2) lines += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return lines;
}
