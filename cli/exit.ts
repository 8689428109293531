/** Maps each kind of error to the exit code of the command line. No other module does. */
import type { ErrorKind } from '../engine/error.ts';

/** Exit code by kind of error. 0 is success. */
export const exitCodes = Object.freeze({
  internal: 1,
  usage: 2,
  method_not_allowed: 2,
  unavailable: 3,
  circuit_open: 3,
  bad_gateway: 3,
  gateway_timeout: 3,
  config: 4,
  not_found: 5,
  conflict: 6,
  unauthorized: 7,
  proxy_unauthorized: 7,
  forbidden: 7,
  spending_limit: 7,
  rate_limited: 7,
  bad_request: 8,
  expectation_failed: 8,
  unprocessable: 8,
  payload_too_large: 8,
  headers_too_large: 8,
  unsupported_media_type: 8,
  upgrade_required: 8,
  cancelled: 130,
}) satisfies Record<ErrorKind, number>;

/** The codes in words, for `svc --help` and the documentation. */
export const exitMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done'],
  [1, 'what was checked does not hold, or svc itself failed'],
  [2, 'the command line is not valid'],
  [3, 'no proxy runs, or what it needs does not answer'],
  [4, 'the configuration is wrong'],
  [5, 'what was named does not exist'],
  [6, 'it exists or runs already, or the port is taken'],
  [7, 'not allowed'],
  [8, 'the input is not acceptable'],
  [130, 'interrupted before it was done'],
];
