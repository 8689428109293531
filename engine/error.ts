/**
 * The one error type of the project. Its `kind` says what went wrong; the server maps kinds to HTTP
 * in one table and the command line maps them to exit codes in another, so nothing else decides a
 * status.
 */

/** Every kind of failure that can reach a user. */
export type ErrorKind =
  | 'bad_request'
  | 'unauthorized'
  | 'proxy_unauthorized'
  | 'spending_limit'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'unprocessable'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'bad_gateway'
  | 'circuit_open'
  | 'unavailable'
  | 'gateway_timeout'
  | 'upgrade_required'
  | 'config'
  | 'usage'
  | 'cancelled';

export interface ErrorDetails {
  /** The specification's code, such as `VALIDATION_002`, if it has one. */
  readonly code?: string | undefined;
  /** The underlying error. Goes to the log, never over the wire. */
  readonly cause?: unknown;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterS?: number | undefined;
  /** What would have been accepted instead, such as the methods of a path or the protocols of an upgrade. */
  readonly allowed?: readonly string[] | undefined;
  /**
   * What the user can do about it, in one sentence. The command line prints it below the message.
   */
  readonly cure?: string | undefined;
}

const BRAND = Symbol.for('svc.error');

/** A failure with a kind. Its message is written for the user and never contains a secret. */
export class SvcError extends Error {
  readonly [BRAND] = true;
  readonly kind: ErrorKind;
  readonly code: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly cure: string | undefined;
  readonly allowed: readonly string[] | undefined;
  /** The graph node where it was thrown; set once by the engine. */
  node: string | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SvcError';
    this.kind = kind;
    this.code = details.code;
    this.retryAfterS = details.retryAfterS;
    this.cure = details.cure;
    this.allowed = details.allowed;
    this.node = undefined;
  }
}

/**
 * Returns true for a `SvcError`, including one made by another copy of this module (a plugin's own
 * install).
 */
export function isSvcError(value: unknown): value is SvcError {
  return value instanceof Error && BRAND in value;
}

/**
 * Converts anything thrown in `node` to a `SvcError`. An existing one keeps its kind and its first
 * node; anything else becomes `internal` with the original as cause: RESOURCE_001 if it reports no
 * memory, RESOURCE_002 if the disk is full.
 */
export function toSvcError(thrown: unknown, node?: string): SvcError {
  const error = isSvcError(thrown) ? thrown : toInternal(thrown);
  if (error.node === undefined && node !== undefined) error.node = node;
  return error;
}

function toInternal(cause: unknown): SvcError {
  if (isOutOfMemory(cause))
    return new SvcError('internal', 'Cannot allocate memory', { code: 'RESOURCE_001', cause });
  return isDiskFull(cause)
    ? new SvcError('internal', 'No space left on device', { code: 'RESOURCE_002', cause })
    : new SvcError('internal', 'The proxy failed while handling this request', { cause });
}

/** Buffers, system calls and zlib have a code for it; the language itself only a message. */
const NO_MEMORY: ReadonlySet<unknown> = new Set([
  'ERR_MEMORY_ALLOCATION_FAILED',
  'ENOMEM',
  'Z_MEM_ERROR',
]);

function isOutOfMemory(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if ('code' in thrown && NO_MEMORY.has(thrown.code)) return true;
  return thrown instanceof RangeError && thrown.message === 'Array buffer allocation failed';
}

/**
 * System calls have two codes for it, and so does SQLite, which first meets a full disk in its
 * shared memory.
 */
const NO_SPACE: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'SQLITE_FULL',
  'SQLITE_IOERR_SHMSIZE',
]);

function isDiskFull(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && NO_SPACE.has(thrown.code);
}
