/**
 * Where a provider's requests go: from the base URL that people copy out of a manual to the path of
 * each request. Manuals disagree on what a base URL contains, so its form decides:
 *
 * | base URL                                      | a client's `/v1/chat/completions` goes to  |
 * |-----------------------------------------------|--------------------------------------------|
 * | an origin                                     | `/v1/chat/completions`                     |
 * | `/openai/v1`: it ends in our version          | `/openai/v1/chat/completions`              |
 * | `/api/paas/v4`: it ends in another version    | `/api/paas/v4/chat/completions`            |
 * | `/inference`: any other prefix, kind `chat`   | `/inference/chat/completions`              |
 * | `/v3/chat/completions`: a full address        | `/v3/chat/completions`                     |
 *
 * SDKs of the chat dialect append only the endpoint to any base URL, so that is what those
 * providers document. SDKs of the messages and generative dialects append the version too.
 */
import type { EndpointKind } from '../model/endpoint.ts';
import type { ProviderAddress, ProviderKind } from './provider.ts';

/** Endings of a full address that was copied instead of a base URL. */
const ENDPOINTS: Readonly<Record<EndpointKind, RegExp>> = {
  messages: /\/messages(?:\/(?:count_tokens|batches))?$/,
  chat: /\/(?:chat\/completions|completions|embeddings|responses|(?<=.\/)models)$/,
  generative: /\/models(?:\/[^/]+)?$/,
};

/** A version at the end of a prefix. */
const LAST_VERSION = /\/v\d+(?:(?:alpha|beta)\d*)?$/;
/** Where Vertex has the models of a vendor; the version comes long before it. */
const PUBLISHER = /\/publishers\/[^/]+$/;
/** The version of a request's own path; files are uploaded beside it. */
const OWN_VERSION = /^(\/(?:up|down)load)?\/v1(?:alpha|beta)?\d*(?=\/)/;
/** Hosts that serve the chat dialect without any version, and so document only an origin. */
const UNVERSIONED = new Set(['api.perplexity.ai', 'api.githubcopilot.com']);

/**
 * Interprets a valid base URL for a provider of `kind`. With `isCode` the provider's own code makes
 * the path, and sees the whole of the request's own path after the prefix.
 */
export function toAddress(kind: ProviderKind, baseUrl: string, isCode = false): ProviderAddress {
  const { origin, hostname, pathname, search } = new URL(baseUrl);
  const whole = pathname.replace(/(?<!\/)\/+$/, '');
  const query = search.slice(1);
  if (kind === 'passthrough' || isCode) {
    return { origin, pathPrefix: whole, appends: 'path', query };
  }
  const pathPrefix = whole.replace(ENDPOINTS[kind], '');
  const isWhole = pathPrefix !== whole;
  const isEndpoint =
    isWhole || LAST_VERSION.test(pathPrefix) || appendsEndpoint(kind, hostname, pathPrefix);
  return { origin, pathPrefix, appends: isEndpoint ? 'endpoint' : 'path', query };
}

/** Returns what the kind implies for a base URL without a version at its end. */
function appendsEndpoint(kind: EndpointKind, hostname: string, pathPrefix: string): boolean {
  if (kind === 'generative') return PUBLISHER.test(pathPrefix);
  return kind === 'chat' && (pathPrefix !== '' || UNVERSIONED.has(hostname));
}

/** Returns the path and query at the provider for a request's own `target`. */
export function upstreamPath(address: ProviderAddress, target: string): string {
  return withQuery(joinPath(address, target), address.query);
}

function joinPath({ pathPrefix, appends }: ProviderAddress, target: string): string {
  if (pathPrefix === '' && appends === 'path') return target;
  const [version, upload] = OWN_VERSION.exec(target) ?? [];
  if (version === undefined) return pathPrefix + target;
  // Uploads have a path of their own beside the version, never after it.
  if (upload !== undefined) return pathPrefix.replace(LAST_VERSION, '') + target;
  const isDoubled = appends === 'endpoint' || pathPrefix.endsWith(version);
  return isDoubled ? pathPrefix + target.slice(version.length) : pathPrefix + target;
}

/**
 * Adds the parameters of the base URL; a parameter that the client sends itself takes precedence.
 */
function withQuery(path: string, query: string): string {
  if (query === '') return path;
  const own = new URLSearchParams(path.split('?', 2)[1] ?? '');
  const added = query.split('&').filter((pair) => !own.has(nameOf(pair)));
  if (added.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${added.join('&')}`;
}

function nameOf(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? '';
}

/** The path that best shows where a provider's requests go. */
const SHOWN: Readonly<Record<EndpointKind, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  generative: '/v1beta/models',
};

/**
 * Returns the full URL for conversations, for display; for a passthrough only the part before each
 * path.
 */
export function shownEndpoint(kind: ProviderKind, baseUrl: string, isCode = false): string {
  const address = toAddress(kind, baseUrl, isCode);
  const path = kind === 'passthrough' ? address.pathPrefix : upstreamPath(address, SHOWN[kind]);
  return address.origin + path;
}
