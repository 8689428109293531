/**
 * Every failure to which the specification gives a code or a status, as a function. The messages
 * are the patterns of its section 7, written only here; `server/http/error-response.ts` alone
 * decides which status a kind becomes.
 */
import { SvcError } from '../../engine/error.ts';

/**
 * AUTH_001: no usable credential. `why` is added to the message if a user could not guess what is
 * missing.
 */
export function authMissing(why?: string): SvcError {
  const pattern = 'Invalid or missing authentication';
  return new SvcError('unauthorized', why === undefined ? pattern : `${pattern}; ${why}`, {
    code: 'AUTH_001',
  });
}

/** AUTH_002: an `Authorization` header that is not `Bearer <token>`. */
export function authMalformed(): SvcError {
  return new SvcError('unauthorized', 'Invalid authentication format; expected Bearer <token>', {
    code: 'AUTH_002',
  });
}

/** AUTH_003: a proxy key that was revoked, rotated away or has expired. */
export function authRevoked(): SvcError {
  return new SvcError('unauthorized', 'Authentication failed; key may be expired or revoked', {
    code: 'AUTH_003',
    cure: 'Make a new key with `svc auth --generate`.',
  });
}

/**
 * VALIDATION_001: the body is not JSON. The parser's own message may quote a prompt, so it stays in
 * `cause`.
 */
export function invalidJson(cause?: unknown): SvcError {
  return new SvcError('bad_request', 'Invalid JSON payload', { code: 'VALIDATION_001', cause });
}

/** VALIDATION_002: a required field is absent. */
export function missingField(field: string): SvcError {
  return new SvcError('bad_request', `Missing required field: ${field}`, {
    code: 'VALIDATION_002',
  });
}

/**
 * VALIDATION_003: a field of the wrong JSON type; both types by their JSON names (`string`,
 * `array`).
 */
export function wrongType(field: string, expected: string, got: string): SvcError {
  const article = /^[aeiou]/.test(expected) ? 'an' : 'a';
  return new SvcError(
    'bad_request',
    `Field '${field}' must be ${article} ${expected}, got ${got}`,
    {
      code: 'VALIDATION_003',
    },
  );
}

/**
 * PROVIDER_001: the provider refused every configured key, with a 401 unless `why` says otherwise.
 */
export function providerKeyRejected(why = 'Invalid API key'): SvcError {
  return new SvcError('bad_gateway', `Provider rejected request: ${why}`, {
    code: 'PROVIDER_001',
  });
}

/** PROVIDER_002: the provider's limit was hit and its own answer cannot be passed through. */
export function providerLimited(): SvcError {
  return new SvcError('bad_gateway', 'Provider rate limit exceeded', { code: 'PROVIDER_002' });
}

/**
 * PROVIDER_003: no response head arrived. `reason` is a short cause such as `connection refused`.
 */
export function providerUnreachable(reason: string, cause?: unknown): SvcError {
  return new SvcError('bad_gateway', `Unable to reach provider: ${reason}`, {
    code: 'PROVIDER_003',
    cause,
  });
}

/** The request cannot be sent over HTTP, and no provider was called. The reason is in `cause`. */
export function cannotBeSent(cause: Error): SvcError {
  return new SvcError('bad_request', `The request cannot be sent: ${cause.message}`, { cause });
}

/** PROVIDER_004: the provider answered with a 5xx that cannot be passed through. */
export function providerFailed(status: number): SvcError {
  return new SvcError('bad_gateway', `Provider error: ${status}`, { code: 'PROVIDER_004' });
}

/**
 * RATELIMIT_001: this client is above the proxy's own limit; `retryAfterS` is rounded up to whole
 * seconds.
 */
export function rateLimited(retryAfterS: number): SvcError {
  const seconds = wholeSeconds(retryAfterS);
  return new SvcError('rate_limited', `Rate limit exceeded, Retry-After: ${seconds}`, {
    code: 'RATELIMIT_001',
    retryAfterS: seconds,
  });
}

/** RATELIMIT_002: every key of the provider is cooling down; `retryAfterS` is the smallest wait. */
export function allKeysCooling(retryAfterS: number): SvcError {
  const seconds = wholeSeconds(retryAfterS);
  return new SvcError('rate_limited', `Provider rate limit exceeded, Retry-After: ${seconds}`, {
    code: 'RATELIMIT_002',
    retryAfterS: seconds,
  });
}

/**
 * RATELIMIT_002: this minute's requests that the configuration allows for this provider are used
 * up; `retryAfterS` is the wait in line.
 */
export function providerPaced(retryAfterS: number): SvcError {
  const seconds = wholeSeconds(retryAfterS);
  return new SvcError('rate_limited', `Provider rate limit exceeded, Retry-After: ${seconds}`, {
    code: 'RATELIMIT_002',
    retryAfterS: seconds,
    cure: 'Raise rate_limiting.<provider>.rpm, or send less at once.',
  });
}

/**
 * The request would exceed a configured spending limit. `why` names the limit and what is left of
 * it.
 */
export function spendingLimit(why: string): SvcError {
  return new SvcError('spending_limit', why, {
    cure: 'Raise the limit under budget, or allow the request once.',
  });
}

/**
 * The spending before the start cannot be read, so that no limit over past spending can be checked.
 */
export function spendingUnknown(cause: SvcError): SvcError {
  const why = 'What was spent before the start cannot be read, so no spending limit can be checked';
  return new SvcError('unavailable', `${why}: ${cause.message}`, {
    cause,
    retryAfterS: 1,
    cure: 'Repair the ledger, or set budget.enabled: false.',
  });
}

/** A stream ended, however cleanly, without its dialect's terminator. */
export function streamCutShort(): SvcError {
  return new SvcError('bad_gateway', "The provider's stream ended in the middle of its answer");
}

/** A provider's response has an unsupported `Content-Encoding`, or its body does not match it. */
export function undecodableAnswer(
  encoding: string,
  { provider, cause }: { readonly provider?: string; readonly cause?: unknown } = {},
): SvcError {
  const whose = provider === undefined ? "The provider's answer" : `The answer of '${provider}'`;
  const message = `${whose} cannot be decoded (Content-Encoding: ${printable(encoding)})`;
  return new SvcError('bad_gateway', message, { cause });
}

/** Returns foreign text shortened and reduced to ASCII, safe to repeat in a message. */
export function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 64);
}

/** TIMEOUT_001: the upstream sent no head in time. */
export function upstreamTimeout(): SvcError {
  return new SvcError('gateway_timeout', 'Request to upstream took too long', {
    code: 'TIMEOUT_001',
  });
}

/** TIMEOUT_001: the head came, and then the body stalled. */
export function stoppedSending(): SvcError {
  return new SvcError(
    'gateway_timeout',
    'The provider stopped sending in the middle of its answer',
    { code: 'TIMEOUT_001' },
  );
}

/** A request that breaks HTTP or one of our rules about it; `what` names the rule. */
export function malformedRequest(what: string): SvcError {
  return new SvcError('bad_request', what);
}

/** A request that this proxy understands but does not serve for this client. */
export function forbidden(why: string): SvcError {
  return new SvcError('forbidden', why);
}

/**
 * A key of this proxy without the right to what the request asks for; `allowed` is what it may use.
 */
export function keyForbids(label: string, what: string, allowed: readonly string[]): SvcError {
  const only = `it may use ${allowed.join(', ')}`;
  return new SvcError('forbidden', `The proxy key '${label}' may not use ${what}: ${only}`, {
    cure: 'The owner of the proxy changes that with `svc auth update`.',
  });
}

/** No such path. The path is not repeated: it is the client's text, and may contain a key. */
export function notFound(what = 'No such path on this proxy'): SvcError {
  return new SvcError('not_found', what);
}

/**
 * The path exists, the method does not. `allow` lists the valid methods; the response repeats them
 * in `Allow`.
 */
export function methodNotAllowed(allow: readonly string[]): SvcError {
  return new SvcError('method_not_allowed', `This path answers ${allow.join(', ')}`, {
    allowed: allow,
  });
}

/**
 * A CONNECT while forward mode is not set up: `HTTPS_PROXY` of some client points at this proxy.
 */
export function noTunnel(): SvcError {
  return new SvcError(
    'method_not_allowed',
    'This proxy does not open tunnels: use it as a base URL, not as HTTPS_PROXY',
    {
      allowed: ['GET', 'HEAD', 'POST', 'OPTIONS'],
      cure: '`svc run --forward` sets forward mode up.',
    },
  );
}

/** A CONNECT without a forward mode token, or with an invalid one. */
export function tunnelUnauthorized(): SvcError {
  return new SvcError(
    'proxy_unauthorized',
    'A tunnel needs the token of a client that `svc run --forward` has started',
  );
}

/** The other end of a tunnel cannot be reached. */
export function tunnelFailed(reason: string, cause?: unknown): SvcError {
  return new SvcError('bad_gateway', `The tunnel was not opened: ${reason}`, { cause });
}

/** A request to an intercepted host, passed on unchanged, did not get there. */
export function hostUnreachable(host: string, reason: string, cause?: unknown): SvcError {
  return new SvcError('bad_gateway', `${host} cannot be reached: ${reason}`, { cause });
}

/** A WebSocket for a conversation; its clients fall back to plain HTTP. */
export function upgradeOverHttp(): SvcError {
  return new SvcError('upgrade_required', 'This path does not support WebSocket; send a POST', {
    allowed: ['HTTP/1.1'],
    cure: 'Set supports_websockets = false for this provider in the client.',
  });
}

/** A request to the WebSocket's path without an upgrade. */
export function upgradeMissing(): SvcError {
  return new SvcError('upgrade_required', 'This path is a WebSocket; connect to it with ws://', {
    allowed: ['websocket'],
    cure: 'For HTTP, POST to /v1/messages or /v1/chat/completions.',
  });
}

/** An upgrade to a version of WebSocket that is unknown here, or without one. */
export function unknownWebSocketVersion(): SvcError {
  return new SvcError('upgrade_required', 'This version of WebSocket is not supported', {
    allowed: ['websocket'],
  });
}

/** An `Expect` that asks for something other than `100-continue`. */
export function unknownExpectation(): SvcError {
  return new SvcError('expectation_failed', 'The only supported value of Expect is 100-continue');
}

/** The body is larger than `limitBytes`, as sent or once decoded. */
export function payloadTooLarge(limitBytes: number): SvcError {
  return new SvcError('payload_too_large', `The request body is over ${limitBytes} bytes`, {
    cure: 'Raise advanced.max_request_size_bytes.',
  });
}

/** An unsupported `Content-Type` or `Content-Encoding`. */
export function unsupportedMedia(what: string): SvcError {
  return new SvcError('unsupported_media_type', what);
}

/** More or longer headers than we accept. */
export function headersTooLarge(what: string): SvcError {
  return new SvcError('headers_too_large', what);
}

/** The provider's breaker is open; `retryAfterS` is the time until its probe. */
export function circuitOpen(provider: string, retryAfterS: number): SvcError {
  return new SvcError('circuit_open', `Circuit breaker open for provider: ${provider}`, {
    retryAfterS: wholeSeconds(retryAfterS),
  });
}

/** The provider's own code failed, and no single request was to blame; /health has the reason. */
export function providerStopped(provider: string): SvcError {
  return new SvcError('unavailable', `Provider '${provider}' was stopped: its own code failed`, {
    cure: 'See /health and the log for what failed; `svc config reload` starts it again.',
  });
}

/** The proxy is at capacity. */
export function overloaded(what: string): SvcError {
  return new SvcError('unavailable', what, { retryAfterS: 1 });
}

/** The proxy is draining and takes no new request. */
export function shuttingDown(): SvcError {
  return new SvcError('unavailable', 'The proxy is shutting down', { retryAfterS: 1 });
}

function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}
