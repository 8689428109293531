import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError, toSvcError } from '../../engine/error.ts';
import * as errors from '../../stages/model/errors.ts';
import { invalidConfig, unreadableConfig } from '../config/fault.ts';
import {
  errorBody,
  errorHeaders,
  errorStatus,
  errorTable,
  rawErrorResponse,
} from './error-response.ts';

const NOWHERE = { key: 'provider', source: 'file', where: '' } as const;

/** Returns the error that the runtime throws when an allocation fails. */
function failedAllocation(): unknown {
  try {
    return new ArrayBuffer(2 ** 50);
  } catch (thrown) {
    return thrown;
  }
}

/** Returns a system error, such as that of a full disk. */
function refusedWrite(code: string): Error {
  return Object.assign(new Error('write failed'), { code });
}

/**
 * The codes of the specification's section 7, written independently of the code that creates them.
 */
const CODES: readonly (readonly [SvcError, string, number, string, string])[] = [
  [errors.authMissing(), 'AUTH_001', 401, 'unauthorized', 'Invalid or missing authentication'],
  [
    errors.authMalformed(),
    'AUTH_002',
    401,
    'unauthorized',
    'Invalid authentication format; expected Bearer <token>',
  ],
  [
    errors.authRevoked(),
    'AUTH_003',
    401,
    'unauthorized',
    'Authentication failed; key may be expired or revoked',
  ],
  [errors.invalidJson(), 'VALIDATION_001', 400, 'bad_request', 'Invalid JSON payload'],
  [
    errors.missingField('model'),
    'VALIDATION_002',
    400,
    'bad_request',
    'Missing required field: model',
  ],
  [
    errors.wrongType('max_tokens', 'integer', 'string'),
    'VALIDATION_003',
    400,
    'bad_request',
    "Field 'max_tokens' must be an integer, got string",
  ],
  [
    errors.providerKeyRejected(),
    'PROVIDER_001',
    502,
    'bad_gateway',
    'Provider rejected request: Invalid API key',
  ],
  [errors.providerLimited(), 'PROVIDER_002', 502, 'bad_gateway', 'Provider rate limit exceeded'],
  [
    errors.providerUnreachable('connection refused'),
    'PROVIDER_003',
    502,
    'bad_gateway',
    'Unable to reach provider: connection refused',
  ],
  [errors.providerFailed(503), 'PROVIDER_004', 502, 'bad_gateway', 'Provider error: 503'],
  [
    errors.rateLimited(2.2),
    'RATELIMIT_001',
    429,
    'rate_limit_exceeded',
    'Rate limit exceeded, Retry-After: 3',
  ],
  [
    errors.allKeysCooling(0.1),
    'RATELIMIT_002',
    429,
    'rate_limit_exceeded',
    'Provider rate limit exceeded, Retry-After: 1',
  ],
  [
    unreadableConfig('line 3'),
    'CONFIG_001',
    500,
    'internal_error',
    'Failed to load config: line 3',
  ],
  [
    invalidConfig([{ ...NOWHERE, text: "Missing required field 'provider'" }]),
    'CONFIG_002',
    500,
    'internal_error',
    "Config validation failed: Missing required field 'provider'",
  ],
  [toSvcError(failedAllocation()), 'RESOURCE_001', 500, 'internal_error', 'Cannot allocate memory'],
  [
    toSvcError(refusedWrite('ENOSPC')),
    'RESOURCE_002',
    500,
    'internal_error',
    'No space left on device',
  ],
  [
    errors.upstreamTimeout(),
    'TIMEOUT_001',
    504,
    'gateway_timeout',
    'Request to upstream took too long',
  ],
];

test('every code has its status, type and message', () => {
  for (const [error, code, status, type, message] of CODES) {
    assert.is(errorStatus(error), status, code);
    assert.equal(JSON.parse(errorBody(error, 'req_1').toString('utf8')), {
      type: 'error',
      error: { type, message, code },
      request_id: 'req_1',
    });
  }
});

test('errors without a code have a status and a type', () => {
  const table: readonly (readonly [SvcError, number, string])[] = [
    [errors.malformedRequest('x'), 400, 'bad_request'],
    [errors.forbidden('x'), 403, 'forbidden'],
    [errors.notFound(), 404, 'not_found'],
    [errors.methodNotAllowed(['GET']), 405, 'method_not_allowed'],
    [errors.payloadTooLarge(1), 413, 'payload_too_large'],
    [errors.unsupportedMedia('x'), 415, 'unsupported_media_type'],
    [errors.headersTooLarge('x'), 431, 'headers_too_large'],
    [errors.circuitOpen('p', 30), 503, 'circuit_open'],
    [errors.overloaded('x'), 503, 'upstream_unreachable'],
    [errors.shuttingDown(), 503, 'upstream_unreachable'],
    [new SvcError('spending_limit', 'x'), 402, 'spending_limit'],
    [new SvcError('conflict', 'x'), 409, 'conflict'],
    [new SvcError('unprocessable', 'x'), 422, 'unprocessable'],
    [new SvcError('cancelled', 'x'), 503, 'upstream_unreachable'],
    [new SvcError('internal', 'x'), 500, 'internal_error'],
  ];
  for (const [error, status, type] of table) {
    assert.is(errorStatus(error), status);
    const body: unknown = JSON.parse(errorBody(error, 'r').toString('utf8'));
    assert.equal(body, {
      type: 'error',
      error: { type, message: error.message },
      request_id: 'r',
    });
  }
});

test('every kind of error has an error status', () => {
  for (const [kind, row] of Object.entries(errorTable)) {
    assert.ok(row.status >= 400 && row.status < 600, kind);
    assert.match(row.type, /^[a-z_]+$/);
  }
});

test('cause, cure and node of an error are never sent', () => {
  const error = new SvcError('internal', 'It failed', {
    cause: new Error('canary'),
    cure: 'canary cure',
  });
  error.node = 'canary node';
  assert.not.match(rawErrorResponse(error, 'r').toString('utf8'), /canary|at .*\.ts|\.js:/);
});

test('error headers contain id, length, wait, and `close` if the connection ends', () => {
  const wait = new SvcError('unavailable', 'x', { retryAfterS: 0.2 });
  const headers = errorHeaders(wait, 'req_9', 12);
  assert.is(headers['X-Request-ID'], 'req_9');
  assert.is(headers['Content-Length'], 12);
  assert.is(headers['Retry-After'], 1);
  assert.not('Connection' in headers);
  assert.is(errorHeaders(wait, 'req_9', 12, true)['Connection'], 'close');
});

test('running out of memory or disk space always has its own code', () => {
  const codes = {
    RESOURCE_001: ['ERR_MEMORY_ALLOCATION_FAILED', 'ENOMEM', 'Z_MEM_ERROR'],
    RESOURCE_002: ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'],
  };
  for (const [code, causes] of Object.entries(codes))
    for (const cause of causes.map(refusedWrite)) {
      const error = toSvcError(cause, 'parse');
      assert.equal([error.code, error.cause, error.node], [code, cause, 'parse']);
    }
  for (const other of [new RangeError('Invalid array length'), refusedWrite('EIO'), undefined, 'x'])
    assert.is(toSvcError(other).code, undefined);
});

test.run();
