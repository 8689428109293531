/**
 * Errors between dialects: a table of the meaning of each status, one of the status for each
 * meaning, and the exception for a request that cannot be translated.
 */
import { SvcError, type ErrorKind } from '../../../engine/error.ts';
import type { CanonicalError, CanonicalErrorKind } from '../canonical.ts';

/**
 * Something another dialect cannot express. `translateRequest` turns it into a skip with this
 * reason.
 */
export function cannotCarry(what: string): SvcError {
  return new SvcError('unprocessable', what);
}

/** The upstream's answer does not fit its dialect. */
export function unreadableAnswer(what: string): SvcError {
  return new SvcError('bad_gateway', what);
}

/** The status for each kind. */
export const statusOfError: Readonly<Record<CanonicalErrorKind, number>> = {
  invalid: 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  notFound: 404,
  tooLarge: 413,
  rateLimit: 429,
  overloaded: 503,
  timeout: 504,
  internal: 500,
};

/** Inverts a table of words: returns kinds by word. */
export function kindsByWord<Word extends string | number>(
  table: Readonly<Record<CanonicalErrorKind, Word>>,
): [Word, CanonicalErrorKind][] {
  return Object.entries(table).map(([kind, word]) => [word, kind as CanonicalErrorKind]);
}

const KIND_OF_STATUS = new Map<number, CanonicalErrorKind>([
  ...kindsByWord(statusOfError),
  [408, 'timeout'],
  [529, 'overloaded'],
]);

/** Returns the meaning of an HTTP status, used if the body is not more precise. */
export function errorKindOfStatus(status: number): CanonicalErrorKind {
  return KIND_OF_STATUS.get(status) ?? (status >= 500 ? 'internal' : 'invalid');
}

const KIND_OF_OURS: Partial<Record<ErrorKind, CanonicalErrorKind>> = {
  bad_request: 'invalid',
  unprocessable: 'invalid',
  unauthorized: 'authentication',
  spending_limit: 'billing',
  forbidden: 'permission',
  not_found: 'notFound',
  payload_too_large: 'tooLarge',
  rate_limited: 'rateLimit',
  circuit_open: 'overloaded',
  unavailable: 'overloaded',
  gateway_timeout: 'timeout',
};

/** Converts our own failure to the vocabulary of the dialects. */
export function fromSvcError(error: SvcError): CanonicalError {
  return {
    kind: KIND_OF_OURS[error.kind] ?? 'internal',
    message: error.message,
    ...(error.code === undefined ? {} : { code: error.code }),
  };
}

/**
 * Returns the message for a body that is not a JSON error: a gateway's HTML page, or nothing.
 * Markup never goes to a client.
 */
export function plainErrorMessage(status: number): string {
  return `The provider answered with status ${status}`;
}
