/**
 * Which hosts are intercepted, and which of their requests go through the graph. The hosts of
 * providers that serve the paths of their kind are intercepted; any other host is tunnelled. Only
 * conversations and similar requests to an intercepted host are processed: everything else is
 * passed through to that host.
 */
import { isIP } from 'node:net';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import type { Endpoint, EndpointKind } from '../../stages/model/endpoint.ts';
import { upstreamPath } from '../../stages/providers/address.ts';
import type { Provider } from '../../stages/providers/provider.ts';
import { portOf } from '../../stages/providers/tunnel.ts';
import { isLoopbackHost } from '../config/address.ts';

/** Providers by the kind of path that they serve. */
export type ServedKinds = ReadonlyMap<EndpointKind, Provider>;

/** By host name in lower case. */
export type InterceptedHosts = ReadonlyMap<string, ServedKinds>;

/** A request to an intercepted host that the graph serves. */
export interface ServedRequest {
  readonly endpoint: Endpoint;
  /** Its target on this proxy: without the prefix of the provider's base URL. */
  readonly target: string;
}

/** Port of hosts that can be intercepted. */
export const INTERCEPTED_PORT = 443;

/** Returns the hosts of `byKind`'s providers that use TLS on port 443 under a public name. */
export function interceptedHosts(
  byKind: Readonly<Record<EndpointKind, string>>,
  providers: ReadonlyMap<string, Provider>,
): InterceptedHosts {
  const hosts = new Map<string, Map<EndpointKind, Provider>>();
  for (const [kind, name] of Object.entries(byKind) as [EndpointKind, string][]) {
    const provider = providers.get(name);
    if (provider === undefined || !canIntercept(provider.origin)) continue;
    const { hostname } = new URL(provider.origin);
    const served = hosts.get(hostname) ?? new Map<EndpointKind, Provider>();
    served.set(kind, provider);
    hosts.set(hostname, served);
  }
  return hosts;
}

/** A provider whose host could be intercepted but is not: traffic to it bypasses svc. */
export interface TunnelledProvider {
  readonly provider: string;
  readonly host: string;
}

/**
 * Returns providers with a public host that is not among `intercepted`: requests by path alone go
 * to another provider of their kind.
 */
export function tunnelledProviders(
  intercepted: InterceptedHosts,
  providers: ReadonlyMap<string, Provider>,
): readonly TunnelledProvider[] {
  return [...providers.values()].flatMap(({ name, origin }) => {
    const { hostname } = new URL(origin);
    return canIntercept(origin) && !intercepted.has(hostname)
      ? [{ provider: name, host: hostname }]
      : [];
  });
}

/** True for TLS on port 443 under a public name. */
function canIntercept(origin: string): boolean {
  const { protocol, hostname, port } = new URL(origin);
  const isPublic = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && !isLoopbackHost(hostname);
  return protocol === 'https:' && portOf({ protocol, hostname, port }) === '443' && isPublic;
}

/**
 * Returns how the graph serves `method` on `target` of an intercepted host; undefined for a request
 * to be passed through.
 */
export function servedRequest(
  served: ServedKinds,
  method: string,
  target: string,
): ServedRequest | undefined {
  for (const [kind, provider] of served) {
    for (const own of ownTargets(provider, target)) {
      if (upstreamPath(provider, own) !== target) continue;
      const endpoint = resolveEndpoint(method, own, []);
      if (endpoint === undefined || 'allow' in endpoint) continue;
      // A path of another kind would go to that kind's provider, with this provider's credential.
      if (endpoint.defaultKind === kind && isOfGraph(endpoint)) return { endpoint, target: own };
    }
  }
  return undefined;
}

/**
 * Returns the conversation for which a WebSocket on `target` of an intercepted host is opened;
 * undefined for any other socket.
 */
export function servedSocket(served: ServedKinds, target: string): ServedRequest | undefined {
  const request = servedRequest(served, 'POST', target);
  return request?.endpoint.isConversation === true ? request : undefined;
}

/**
 * True for requests that are read, changed, counted or limited; lists, files and administration are
 * passed through.
 */
function isOfGraph({ isConversation, operation }: Endpoint): boolean {
  return isConversation || operation === 'embeddings' || operation === 'completions';
}

/** Returns the targets on this proxy that map to `target` at the provider. */
function ownTargets({ pathPrefix }: Provider, target: string): readonly string[] {
  if (pathPrefix === '') return [target, `/v1${target}`];
  if (!target.startsWith(`${pathPrefix}/`)) return [];
  const rest = target.slice(pathPrefix.length);
  return [rest, `/v1${rest}`, `/v1beta${rest}`];
}

/**
 * Creates the record of connections inside an intercepted host; closed connections are not kept.
 */
export function createInterceptedConnections() {
  const hosts = new WeakMap<object, string>();
  return {
    mark(socket: object, host: string): void {
      hosts.set(socket, host);
    },
    /** Returns the host of this connection; undefined for one to the proxy itself. */
    hostOf: (socket: object): string | undefined => hosts.get(socket),
  };
}

export type InterceptedConnections = ReturnType<typeof createInterceptedConnections>;
