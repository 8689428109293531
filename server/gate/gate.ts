/**
 * Admission. Every request on both ports, and every WebSocket upgrade, passes here before routing
 * and before its body is read. The rules, in order:
 *
 * 1. More than 200 header fields: 431.
 * 2. A protocol version other than 1.0 and 1.1, an unclean field, framing that two readers could
 *    interpret differently, a malformed target: 400, and the connection is closed.
 * 3. Not exactly one well-formed `Host`: 400. A `Host`, or the host of an absolute target, that is
 *    not ours: 403.
 * 4. A request is local if its peer is loopback, it carries no forwarding field, and no page of
 *    another site caused it. Headers can only remove locality. A browser's page load or preload may
 *    be caused by another site without saying so (a typed address that redirects, a speculation
 *    rule), and no client of a provider loads pages: if it would reach a provider or post a form,
 *    it counts as caused by another site.
 * 5. An upgrade requested by a foreign page: 403. `/config/reload` from elsewhere: 403.
 * 6. Local requests pass, without a key unless one is required. Others need a proxy key, in
 *    `X-Svc-Key` or where SDKs put a provider's (`keys-in-request.ts`): 401. A revoked or expired key,
 *    and an unknown key in our format where a provider's belongs: 401, from anywhere. To read the
 *    dashboard, the session cookie of a browser is enough.
 * 7. A few paths are public, and so is every OPTIONS: they pass with the verdict `public`, and the
 *    responses must reveal nothing about the machine.
 *
 * The routes enforce rules 5 and 7 as well, since each declares its audience.
 */
import type { SvcError } from '../../engine/error.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import type { Caller } from '../../stages/model/caller.ts';
import {
  authMissing,
  authRevoked,
  forbidden,
  headersTooLarge,
  malformedRequest,
} from '../../stages/model/errors.ts';
import type { KeyCheck, Keyed } from '../auth/auth.ts';
import { COOKIE_PATH } from '../auth/browser-sessions.ts';
import type { BrowserSessions } from '../auth/browser-sessions.ts';
import { isKeyInPath, keysIn, looksLikeOurs } from '../auth/keys-in-request.ts';
import { RIGHTS } from '../auth/rights.ts';
import type { Rights } from '../auth/rights.ts';
import { isLoopback } from './addresses.ts';
import { framingFault } from './framing.ts';
import { type NameOptions, type Names, createNames, parseAuthority } from './names.ts';
import { type GateRequest, type HeaderScan, scanHeaders } from './scan.ts';
import { originForm, pathOf } from './target.ts';

export type { GateRequest } from './scan.ts';

export interface GateOptions extends NameOptions {
  /** `security.allowed_origins`. `*` is for CORS only and admits no page. */
  readonly allowedOrigins: readonly string[];
  /**
   * `security.trust_browser_origins`: rule 4 ignores which page caused a request. To be logged
   * loudly.
   */
  readonly trustBrowserOrigins: boolean;
  /** `security.require_api_key`: local requests need a key too. */
  readonly requireKey: boolean;
  /** The proxy keys. */
  readonly keys: KeyCheck;
  /** Checks session cookies; without it no cookie admits anyone. */
  readonly sessions?: Pick<BrowserSessions, 'check'>;
  /**
   * The host for which a forward-mode connection was intercepted; undefined for a connection to us.
   */
  readonly interceptedHost?: (socket: object) => string | undefined;
}

/**
 * Admitted: as `local`, by a key (`keyed`, with the key's id for the ledger), or to a public path
 * only.
 */
export type Admission = (
  | { readonly verdict: 'local' }
  | { readonly verdict: 'public' }
  | Omit<Keyed, 'may' | 'caller'>
) & {
  /**
   * What the sender may override: everything on this machine, unless a key is required there too.
   */
  readonly may: Rights;
  /** The key that the request carried, whether needed or not. */
  readonly caller?: Caller;
  /**
   * Proxy keys found where a provider's key belongs; they must not be forwarded. Absent if there
   * are none.
   */
  readonly ours?: readonly string[];
};

/** Not admitted. With `close` the connection must not be reused. */
export interface Refusal {
  readonly verdict: 'refused';
  readonly error: SvcError;
  readonly close: boolean;
}

/**
 * Judges one request. Never throws, reads no body, and remembers only whether the socket is local.
 */
export type Gate = (request: GateRequest, kind?: GateKind) => Admission | Refusal;

/**
 * `pass` is a request forwarded unchanged to an intercepted host, with nothing of ours added: that
 * host judges who caused it.
 */
export type GateKind = 'request' | 'upgrade' | 'pass';

/**
 * Requests with more header fields are refused. node must not hide any: `server.maxHeadersCount =
 * 0`.
 */
export const MAX_HEADER_FIELDS = 200;

const NOTHING: Rights = Object.freeze([]);
const LOCAL: Admission = Object.freeze({ verdict: 'local', may: RIGHTS });
const PUBLIC: Admission = Object.freeze({ verdict: 'public', may: NOTHING });

const LOGIN = '/dashboard/login';
/**
 * Paths where a key or a one-time link is exchanged for a cookie, and where the session ends: the
 * only public paths that accept POST.
 */
const POSTED: ReadonlySet<string> = new Set([LOGIN, '/dashboard/logout']);

const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  '/',
  '/health',
  '/docs',
  '/docs/',
  '/openapi.yaml',
  // The parts of the dashboard's empty page; its data needs more than a path.
  '/dashboard/app.js',
  '/dashboard/app.css',
  '/dashboard/icon.svg',
  LOGIN,
]);

/** Creates the gate. Throws `config` for an entry of `allowedHosts` that is not a host. */
export function createGate(options: GateOptions): Gate {
  const names = createNames(options);
  const listed = listedOrigins(options.allowedOrigins);
  // A socket's peer never changes, and checking the list costs microseconds.
  const locality = new WeakMap<object, boolean>();

  function isLocalSocket(socket: GateRequest['socket']): boolean {
    let known = locality.get(socket);
    if (known === undefined) {
      known = isLoopback(socket.remoteAddress);
      locality.set(socket, known);
    }
    return known;
  }

  return (request, kind = 'request') => {
    const fields = request.rawHeaders;
    if (fields.length > MAX_HEADER_FIELDS * 2) {
      return refuse(headersTooLarge(`More than ${MAX_HEADER_FIELDS} header fields`), true);
    }
    const scan = scanHeaders(fields);
    const fault = framingFault(request, scan);
    if (fault !== undefined) return refuse(malformedRequest(fault), true);
    const intercepted = options.interceptedHost?.(request.socket);
    const foreign =
      intercepted === undefined
        ? hostFault(request, scan, names)
        : interceptedHostFault(request, scan, intercepted);
    if (foreign !== undefined) return foreign;
    if (kind === 'pass') return passing(request, scan, options.keys);

    const host = scan.host ?? '';
    const isFriend = (origin: string): boolean =>
      listed.has(origin) || names.isOurOrigin(origin, host, request.socket.localAddress);
    const crossSite =
      !options.trustBrowserOrigins &&
      ((scan.navigates && !isHarmless(request)) || isCrossSite(scan, isFriend));
    if (crossSite && kind === 'upgrade') {
      return refuse(forbidden('A page of another site may not open a WebSocket here'), true);
    }
    const isLocalPeer = isLocalSocket(request.socket) && !scan.forwarded;
    const traits = {
      isLocalPeer,
      crossSite,
      upgrade: kind === 'upgrade',
      hasToken: intercepted !== undefined,
    };
    return admit(request, scan, traits, options);
  };
}

/** Judges a `pass` request, which must contain no key of this proxy: only we may see one. */
function passing(request: GateRequest, scan: HeaderScan, keys: KeyCheck): Admission | Refusal {
  const target = request.url ?? '';
  if (isKeyInPath(pathOf(target)))
    return refuse(malformedRequest('A proxy key in the path'), false);
  if (scan.keys === 0 && !scan.hasCredential && !mayHoldKey(target)) return LOCAL;
  const otherKeys = findOtherKeys(request, keys);
  if ('error' in otherKeys) return refuse(otherKeys.error, false);
  if (otherKeys.ours.length === 0) return LOCAL;
  return refuse(
    authMissing('this path goes to the provider itself, which does not accept a proxy key'),
    false,
  );
}

interface RequestTraits {
  readonly isLocalPeer: boolean;
  readonly crossSite: boolean;
  readonly upgrade: boolean;
  /** True inside an intercepted connection, whose token counts as a key there. */
  readonly hasToken: boolean;
}

function admit(
  request: GateRequest,
  scan: HeaderScan,
  traits: RequestTraits,
  options: GateOptions,
): Admission | Refusal {
  const local = traits.isLocalPeer && !traits.crossSite;
  const method = request.method ?? '';
  const target = request.url ?? '';
  const keyless = local && (!options.requireKey || traits.hasToken);
  const isUsed = scan.hasCredential || mayHoldKey(target);
  // The common case, before the target is parsed.
  if (keyless && scan.keys === 0 && !isUsed) return LOCAL;
  const path = pathOf(target);
  if (method !== 'OPTIONS' && path === '/config/reload' && !local) {
    return refuse(forbidden('The configuration can be reloaded from this machine only'), false);
  }
  if (isKeyInPath(path)) return refuse(malformedRequest('A proxy key in the path'), false);
  const headerVerdict = scan.keys === 1 ? options.keys.check(scan.key ?? '') : 'unknown';
  if (headerVerdict === 'dead') return refuse(authRevoked(), false);
  // A caller that presents a key of ours means it: if the key is wrong, even a local request's
  // ledger rows would have no owner.
  const isClaimed = headerVerdict === 'unknown' && looksLikeOurs(scan.key ?? '');
  if (keyless && isClaimed && !isPublic(method, path, scan, traits))
    return refuse(authMissing(whyKeyNeeded(scan, traits, options)), false);
  const otherKeys = isUsed ? findOtherKeys(request, options.keys) : NO_KEYS;
  if ('error' in otherKeys) return refuse(otherKeys.error, false);
  const { ours } = otherKeys;
  const admission = (one: Admission): Admission => (ours.length === 0 ? one : { ...one, ours });
  const found =
    headerVerdict !== 'unknown' ? headerVerdict : scan.keys > 1 ? undefined : otherKeys.found;
  if (keyless) return admission(found === undefined ? LOCAL : { ...LOCAL, caller: found.caller });
  if (found !== undefined) {
    const { may = NOTHING, caller } = found;
    return admission(local ? { verdict: 'local', may, caller } : { ...found, may });
  }
  if (
    scan.cookie !== undefined &&
    !traits.crossSite &&
    !traits.upgrade &&
    isDashboardRead(method, path)
  ) {
    const session = options.sessions?.check(scan.cookie);
    if (session !== undefined) return traits.isLocalPeer ? LOCAL : { ...session, may: NOTHING };
  }
  if (!traits.upgrade && isPublic(method, path, scan, traits)) return admission(PUBLIC);
  return refuse(authMissing(whyKeyNeeded(scan, traits, options)), false);
}

/**
 * Proxy keys found outside `X-Svc-Key` and the caller of the first one, or the error if one is not
 * valid.
 */
type OtherKeys =
  | { readonly ours: readonly string[]; readonly found: Keyed | undefined }
  | { readonly error: SvcError };

const NO_KEYS: OtherKeys = Object.freeze({ ours: [], found: undefined });

/**
 * Finds our keys in other places. A provider's key is unknown here too and is forwarded; an unknown
 * key is refused only if it has our format.
 */
function findOtherKeys({ rawHeaders, url = '' }: GateRequest, keys: KeyCheck): OtherKeys {
  const ours: string[] = [];
  let first: Keyed | undefined;
  for (const { key, isOurFormat } of keysIn({
    headers: rawHeaders,
    target: originForm(url),
  })) {
    const verdict = keys.check(key);
    if (verdict === 'dead') return { error: authRevoked() };
    if (verdict === 'unknown') {
      if (isOurFormat) return { error: authMissing('the key is not one of this proxy') };
      continue;
    }
    if (!ours.includes(key)) ours.push(key);
    first ??= verdict;
  }
  return { ours, found: first };
}

/** False for most targets: only a query can name a key, and any path can contain one. */
function mayHoldKey(target: string): boolean {
  return target.includes('svc') || /[?&][^?&=]*(?:key|token)=|%[0-9a-f]{2}/i.test(target);
}

/** True for the dashboard page and its data: what a cookie gives access to. */
function isDashboardRead(method: string, path: string): boolean {
  const isOfDashboard = path === COOKIE_PATH || path.startsWith(`${COOKIE_PATH}/`);
  return isOfDashboard && (method === 'GET' || method === 'HEAD');
}

function isPublic(method: string, path: string, scan: HeaderScan, traits: RequestTraits): boolean {
  if (method === 'OPTIONS') return true;
  if (method === 'POST' && POSTED.has(path)) return !traits.crossSite;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (PUBLIC_PATHS.has(path)) return true;
  // A person following a link to the dashboard gets an empty shell: the page itself requests its
  // data. A frame or a fetch is not a document.
  return (
    traits.isLocalPeer &&
    scan.fetchMode === 'navigate' &&
    scan.fetchDest === 'document' &&
    (path === '/dashboard' || path.startsWith('/dashboard/'))
  );
}

function whyKeyNeeded(scan: HeaderScan, traits: RequestTraits, options: GateOptions): string {
  if (scan.keys > 1) return 'the header X-Svc-Key was sent more than once';
  if (scan.keys === 1) return 'the X-Svc-Key is not one of this proxy';
  if (traits.isLocalPeer && !traits.crossSite && options.requireKey) {
    return 'this proxy requires the header X-Svc-Key';
  }
  if (traits.crossSite && scan.navigates) {
    return 'a page load, form or prefetch of a browser needs X-Svc-Key';
  }
  if (traits.crossSite) return 'a request from a page of another site needs X-Svc-Key';
  if (scan.forwarded) return 'a forwarded request needs the header X-Svc-Key';
  return 'a request from another machine needs the header X-Svc-Key';
}

/** Checks rule 3, for the `Host` field and an absolute target alike. */
function hostFault(request: GateRequest, scan: HeaderScan, names: Names): Refusal | undefined {
  if (scan.hosts !== 1) {
    const what = scan.hosts === 0 ? 'The Host header is missing' : 'More than one Host header';
    return refuse(malformedRequest(what), true);
  }
  const host = scan.host ?? '';
  const fault = names.isUsualHost(host) ? undefined : nameFault(host, request, names);
  if (fault !== undefined) return fault;
  const target = request.url ?? '';
  if (target.startsWith('/') || target === '*') return undefined;
  const absolute = /^http:\/\/([^/?]*)/i.exec(target);
  if (absolute === null) return refuse(malformedRequest('The target is malformed'), true);
  return nameFault(absolute[1] ?? '', request, names);
}

/**
 * Inside an intercepted connection every request must be for its host; one for another host would
 * be sent there under its name.
 */
function interceptedHostFault(
  { url = '' }: GateRequest,
  { hosts, host = '' }: HeaderScan,
  intercepted: string,
): Refusal | undefined {
  const authority = hosts === 1 ? parseAuthority(host) : undefined;
  const isSame = authority?.name === intercepted && (authority.port ?? 443) === 443;
  if (isSame && (url.startsWith('/') || url === '*')) return undefined;
  return refuse(malformedRequest('The Host is not the one that this connection is for'), true);
}

function nameFault(host: string, request: GateRequest, names: Names): Refusal | undefined {
  const authority = parseAuthority(host);
  if (authority === undefined) return refuse(malformedRequest('The Host is malformed'), true);
  if (names.isOurHost(authority, request.socket.localAddress)) return undefined;
  const message = `'${host}' is not a name of this proxy; if it should be, add it to server.allowed_hosts`;
  return refuse(forbidden(message), true);
}

/**
 * True when the request was caused by a page that is neither ours nor listed by name. A second
 * field of either name, and an unknown `Sec-Fetch-Site`, count as foreign.
 */
function isCrossSite(scan: HeaderScan, isFriend: (origin: string) => boolean): boolean {
  if (scan.origins === 0 && scan.fetchSites === 0) return false;
  if (scan.origins > 1 || scan.fetchSites > 1) return true;
  if (scan.origin !== undefined) return !isFriend(scan.origin);
  return scan.fetchSite !== 'same-origin' && scan.fetchSite !== 'none';
}

/**
 * True for a page load that changes nothing and reaches no provider: one of our own pages, or an
 * unknown path.
 */
function isHarmless({ method, url = '/', rawHeaders }: GateRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  try {
    return resolveEndpoint(method, originForm(url), rawHeaders) === undefined;
  } catch {
    return false;
  }
}

/**
 * Returns the origins listed by name. `null` is the origin of every sandboxed frame, so it
 * identifies no one.
 */
function listedOrigins(allowed: readonly string[]): ReadonlySet<string> {
  const names = allowed.map((origin) => origin.toLowerCase().replace(/\/$/, ''));
  return new Set(names.filter((origin) => origin !== '*' && origin !== 'null'));
}

function refuse(error: SvcError, close: boolean): Refusal {
  return { verdict: 'refused', error, close };
}
