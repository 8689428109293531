/**
 * The request as sent to a provider: the client's headers and bytes, less what belongs to the
 * connection and to us, with a configured key if the client brought none.
 */
import type { CancelSignal } from '../../../engine/index.ts';
import type { Dialect } from '../../model/dialect.ts';
import { dialects } from '../../dialect/registry.ts';
import {
  KEY_FIELDS,
  headerList,
  headerValue,
  isCredentialField,
  ofConnection,
  withoutHeaders,
} from '../../model/headers.ts';
import { plainBody, render } from '../../wire/render.ts';
import type { Rendered } from '../../wire/render.ts';
import { targetOf } from '../../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../../model/request.ts';
import { upstreamPath } from '../../providers/address.ts';
import type { Provider, ProviderKey } from '../../providers/provider.ts';
import type { UpstreamRequest } from '../../providers/upstream.ts';

/** Headers for every kind of credential: none of them may reach a provider it was not meant for. */
const CREDENTIALS = new Set([...KEY_FIELDS, 'cookie', 'openai-organization', 'openai-project']);

/** Headers that we set ourselves, and `Expect`, which was answered here. */
const OURS = new Set(['host', 'content-length', 'expect']);

export interface OutgoingOptions {
  /** Requests an answer without `Content-Encoding`, because its events are read. */
  readonly identity: boolean;
  /** The configured key to send, if the route says so. */
  readonly key: ProviderKey | undefined;
  /** Decides which of the client's credentials are sent. */
  readonly target: Pick<RouteTarget, 'credential' | 'isElsewhere'>;
  readonly signal: CancelSignal;
  /** A beta of the messages dialect that the request needs. */
  readonly beta?: string;
  /** Rewrites the decoded body. */
  readonly rewrite?: ((bytes: Buffer) => Buffer) | undefined;
}

/** Returns the dialect whose header carries a provider's key. */
function keyDialect(provider: Provider, request: ProxyRequest): Dialect {
  if (provider.kind !== 'passthrough') return dialects[provider.kind];
  const { defaultKind } = request.original.endpoint;
  return defaultKind === 'by-credential' ? dialects.chat : dialects[defaultKind];
}

function outgoingHeaders(
  request: ProxyRequest,
  provider: Provider,
  encoded: boolean,
  options: OutgoingOptions,
): string[] {
  const { headers } = request.original.body;
  const { target, identity, key, beta } = options;
  const isOfConnection = ofConnection(headers);
  const kept = withoutHeaders(
    headers,
    (name) =>
      isOfConnection(name) ||
      OURS.has(name) ||
      name.startsWith('x-svc-') ||
      headerValue(provider.headers, name) !== undefined ||
      (target.credential !== 'client' && CREDENTIALS.has(name)) ||
      // Such as a gateway's.
      (target.isElsewhere && isCredentialField(name)) ||
      (identity && name === 'accept-encoding') ||
      (!encoded && name === 'content-encoding'),
  );
  if (beta !== undefined) addBeta(kept, beta);
  if (identity) kept.push('accept-encoding', 'identity');
  if (key !== undefined)
    kept.push(...keyDialect(provider, request).keyHeaders(key.secret, key.scheme));
  kept.push(...provider.headers);
  return kept;
}

const BETA_FIELD = 'anthropic-beta';

function addBeta(headers: string[], beta: string): void {
  const listed = headerList(headers, BETA_FIELD);
  if (listed?.includes(beta) !== true) headers.push(BETA_FIELD, beta);
}

/** Removes `key` from the query if the client's own credential must not be sent. */
function outgoingTarget(request: ProxyRequest, { credential }: OutgoingOptions['target']): string {
  const target = targetOf(request);
  if (credential === 'client' || !/[?&]key=/.test(target)) return target;
  const [path, query = ''] = target.split('?', 2);
  const kept = query.split('&').filter((pair) => !pair.startsWith('key='));
  return kept.length === 0 ? path! : `${path}?${kept.join('&')}`;
}

/** Makes the wire request for one attempt at `provider`. */
export function toUpstreamRequest(
  request: ProxyRequest,
  provider: Provider,
  options: OutgoingOptions,
): UpstreamRequest {
  const { method } = request.original.body;
  const rendered: Rendered =
    options.rewrite === undefined
      ? render(request)
      : { bytes: options.rewrite(plainBody(request)), encoded: false };
  const hasBody =
    rendered.bytes.length > 0 || method === 'POST' || method === 'PUT' || method === 'PATCH';
  return {
    origin: provider.origin,
    path: upstreamPath(provider, outgoingTarget(request, options.target)),
    method,
    headers: outgoingHeaders(request, provider, rendered.encoded, options),
    body: hasBody ? rendered.bytes : undefined,
    headTimeoutMs: provider.headTimeoutMs,
    idleTimeoutMs: provider.idleTimeoutMs,
    signal: options.signal,
  };
}
