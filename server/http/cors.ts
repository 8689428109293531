/**
 * Builds the CORS headers for `security.allowed_origins`. They only advise browsers about who may
 * read a response; the gate decides about admission, and `*` here admits no request there. No
 * response ever allows credentials: an origin that may read must bring its own key.
 */

export type Cors = ReturnType<typeof createCors>;

/** The headers of an OPTIONS request that matter. */
export interface PreflightRequest {
  readonly origin: string | undefined;
  /** `Access-Control-Request-Method`: present in a preflight, absent in a plain OPTIONS. */
  readonly requestMethod: string | undefined;
  /** `Access-Control-Request-Headers`. */
  readonly requestHeaders: string | undefined;
  /** `Access-Control-Request-Private-Network`. */
  readonly privateNetwork: string | undefined;
}

const METHODS = 'GET, HEAD, POST, OPTIONS';
const EXPOSED =
  'X-Request-ID, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset';
const MAX_AGE_S = '600';
const PREFLIGHT_VARY =
  'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network';

// A list of field names (RFC 9110 §5.1), short enough to be repeated in a response.
const FIELD_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~ \t,-]{1,4096}$/;

/** Creates the header builder for `allowedOrigins`: origins by name, and `*` for any. */
export function createCors(allowedOrigins: readonly string[]) {
  const isOpen = allowedOrigins.includes('*');
  const named = new Set(allowedOrigins.map(withoutSlash).filter(isName));
  const varying: readonly string[] = named.size > 0 ? ['Vary', 'Origin'] : [];
  const open = readableBy('*', varying);

  function headers(origin: string | undefined): readonly string[] {
    if (origin === undefined) return varying;
    if (!named.has(origin)) return isOpen ? open : varying;
    return readableBy(origin, varying);
  }

  return {
    /**
     * Returns the headers for a response to a request with this `Origin` (undefined: none), as a
     * flat list of names and values. The list is shared: do not change it.
     */
    headers,
    /**
     * Returns the headers of the 204 response to an OPTIONS request, preflight or not. Needs no
     * key, and reads only the fields given.
     */
    preflight(request: PreflightRequest): readonly string[] {
      const { origin, requestMethod, requestHeaders, privateNetwork } = request;
      const fields = ['Allow', METHODS, 'Vary', PREFLIGHT_VARY];
      if (origin === undefined || requestMethod === undefined) return fields;
      const isNamed = named.has(origin);
      if (!isNamed && !isOpen) return fields;
      fields.push('Access-Control-Allow-Origin', isNamed ? origin : '*');
      fields.push('Access-Control-Allow-Methods', METHODS, 'Access-Control-Max-Age', MAX_AGE_S);
      if (requestHeaders !== undefined && FIELD_NAMES.test(requestHeaders)) {
        fields.push('Access-Control-Allow-Headers', requestHeaders);
      }
      // Lets a public page reach into this machine: only for an origin that was listed by name,
      // never for `*`.
      if (isNamed && privateNetwork === 'true') {
        fields.push('Access-Control-Allow-Private-Network', 'true');
      }
      return fields;
    },
  };
}

function readableBy(origin: string, varying: readonly string[]): readonly string[] {
  return [
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Expose-Headers',
    EXPOSED,
    ...varying,
  ];
}

function withoutSlash(origin: string): string {
  return origin.toLowerCase().replace(/\/$/, '');
}

function isName(origin: string): boolean {
  return origin !== '*' && origin !== 'null';
}
