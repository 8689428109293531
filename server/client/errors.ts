/**
 * The errors of adapters. Every failure (a refused connection, a timeout, an error response, a
 * broken stream) is thrown as one of these four, never as an error of the HTTP library.
 */

export interface AdapterErrorDetails {
  /** HTTP status of the error response; null if there was no response. */
  readonly statusCode?: number | null;
  /** The specification's code, such as `VALIDATION_002`, if the proxy sent one. */
  readonly code?: string;
  /** The error's `type`, such as `rate_limit_exceeded`, if the proxy sent one. */
  readonly type?: string;
  /** The id under which the proxy logged and traced the request. */
  readonly requestId?: string;
  /** Delay before a retry, in seconds. */
  readonly retryAfterS?: number;
  readonly cause?: unknown;
}

/** Base class of the adapter errors. */
export class SvcAdapterError extends Error {
  /** HTTP status of the error response; null if there was no response. */
  readonly statusCode: number | null;
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor(message: string, details: AdapterErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.statusCode = details.statusCode ?? null;
    this.code = details.code;
    this.type = details.type;
    this.requestId = details.requestId;
    this.retryAfterS = details.retryAfterS;
  }

  /** The specification's name for `statusCode`. */
  get status_code(): number | null {
    return this.statusCode;
  }
}

/** No response, or no further chunk of a stream, within `timeoutS`; also a 408 or 504. */
export class SvcTimeoutError extends SvcAdapterError {}

/** A required field or option is missing or invalid, or the proxy's own configuration is. */
export class SvcConfigError extends SvcAdapterError {}

/** The proxy answered 401 or 403. */
export class SvcAuthError extends SvcAdapterError {}

/** True for a JSON object: not an array, not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function familyOf(status: number, code: string | undefined): typeof SvcAdapterError {
  if (status === 401 || status === 403) return SvcAuthError;
  if (status === 408 || status === 504) return SvcTimeoutError;
  return code?.startsWith('CONFIG_') === true ? SvcConfigError : SvcAdapterError;
}

/**
 * Returns the error for a response with a status of 400 or more. `body` is its text: an error body
 * of the proxy or of any provider, or anything else, of which the first 200 characters are quoted.
 */
export function fromErrorResponse(status: number, headers: Headers, body: string): SvcAdapterError {
  let error: Readonly<Record<string, unknown>> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (isObject(parsed)) error = isObject(parsed['error']) ? parsed['error'] : parsed;
  } catch {
    // Not JSON: quoted below.
  }
  const code = text(error['code']);
  const quoted = body.trim().slice(0, 200);
  const message = text(error['message']) ?? (quoted === '' ? 'no error message' : quoted);
  const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN);
  const type = text(error['type']);
  const requestId = headers.get('x-request-id') ?? undefined;
  return new (familyOf(status, code))(`${message} (HTTP ${status})`, {
    statusCode: status,
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(requestId !== undefined && { requestId }),
    ...(Number.isFinite(retryAfterS) && { retryAfterS }),
  });
}

/**
 * Returns the error in a stream event, undefined if there is none: messages and responses send
 * `{type: 'error', error}`, chat, generative and the proxy `{error}`.
 */
export function fromErrorEvent(event: unknown): SvcAdapterError | undefined {
  if (!isObject(event) || !isObject(event['error'])) return undefined;
  const { error } = event;
  const code = text(error['code']);
  const type = text(error['type']);
  const requestId = text(event['request_id']);
  return new SvcAdapterError(text(error['message']) ?? 'The stream ended with an error', {
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(requestId !== undefined && { requestId }),
  });
}
