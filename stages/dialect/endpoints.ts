/**
 * Which requests are proxied, and how: by method and path, before any of the body is read. Each
 * dialect defines its own paths; here are those that belong to several or to none. Other stages and
 * the server look paths up only here.
 */
import { SvcError } from '../../engine/index.ts';
import { headerValue } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';
import { notFound, upgradeMissing, upgradeOverHttp } from '../model/errors.ts';
import { pathOf } from '../model/target.ts';
import { opaqueEndpoint } from '../model/endpoint.ts';
import type { DialectEndpoints, Endpoint, EndpointKind, WrongMethod } from '../model/endpoint.ts';
import { chatEndpoints } from './chat/endpoints.ts';
import { generativeEndpoints } from './generative/endpoints.ts';
import { messagesEndpoints } from './messages/endpoints.ts';
import { responsesEndpoints } from './responses/endpoints.ts';

const DIALECTS: readonly DialectEndpoints[] = [
  messagesEndpoints,
  chatEndpoints,
  responsesEndpoints,
  generativeEndpoints,
];

/** Paths that identify a request by themselves. */
const POSTS: ReadonlyMap<string, Endpoint> = new Map(
  DIALECTS.flatMap(({ posts }) => Object.entries(posts)),
);
const GETS: ReadonlyMap<string, Endpoint> = new Map(
  DIALECTS.flatMap(({ gets = {} }) => Object.entries(gets)),
);
const PROBE = opaqueEndpoint('probe', 'messages');

/**
 * Returns how `method` on `target` (path with query) is served, the allowed methods if this one is
 * not, or undefined if the path is not one of the proxy's. Throws `upgrade_required` for a
 * WebSocket upgrade of `/v1/responses`: clients then fall back to plain HTTP.
 */
export function resolveEndpoint(
  method: string,
  target: string,
  headers: Headers,
): Endpoint | WrongMethod | undefined {
  const path = pathOf(target);
  const post = POSTS.get(path);
  if (post !== undefined) {
    if (post.dialect === 'responses' && isUpgrade(headers)) throw upgradeOverHttp();
    if (method === 'POST') return post;
    const getEndpoint = GETS.get(path);
    if (getEndpoint === undefined) return { allow: ['POST'] };
    return method === 'GET' || method === 'HEAD' ? getEndpoint : { allow: ['GET', 'HEAD', 'POST'] };
  }
  if (path === '/' || path === '/api/hello') {
    return method === 'HEAD' ? PROBE : path === '/' ? undefined : { allow: ['HEAD'] };
  }
  if (hasDotSegment(path) || isOurs(path) || VERSION_TWICE.test(path)) return undefined;
  for (const { other } of DIALECTS) {
    const endpoint = other?.(path, method);
    if (endpoint !== undefined) return endpoint;
  }
  if (path === '/v1/models' || path.startsWith('/v1/models/')) return modelsEndpoint(path, method);
  return path.startsWith('/v1/') && path.length > 4
    ? opaqueEndpoint('other', 'by-credential')
    : undefined;
}

/**
 * A client's base URL that ends in a version which the client adds again. No provider has such a
 * path.
 */
const VERSION_TWICE = /^\/v1\/(v1|v1beta)\//;

/**
 * Returns the error for a path that is not one of the proxy's over HTTP; if a client's base URL is
 * the likely cause, it says so.
 */
export function noSuchPath(target: string): SvcError {
  const path = pathOf(target);
  if (path === '/ws') return upgradeMissing();
  if (path.startsWith('//'))
    return notFound(
      `No such path on this proxy: the client's base URL must not end in a slash, as the client adds ${path.replace(/^\/+/, '/')} to it`,
    );
  const version = VERSION_TWICE.exec(path)?.[1];
  if (version !== undefined)
    return notFound(
      `No such path on this proxy: the client adds /${version} itself, so its base URL must not end in /v1`,
    );
  return POSTS.has(`/v1${path}`) || path === '/models'
    ? notFound(
        `No such path on this proxy: this one is /v1${path}, so the client's base URL must end in /v1`,
      )
    : notFound();
}

/** Returns the kind of provider that the credential headers of a request belong to. */
export function kindByCredential(headers: Headers): EndpointKind {
  const hasField = (name: string): boolean => headerValue(headers, name) !== undefined;
  if (hasField('x-api-key') || hasField('anthropic-version')) return 'messages';
  return hasField('x-goog-api-key') ? 'generative' : 'chat';
}

/** Returns how the list of models is served, which several dialects have at the same path. */
function modelsEndpoint(path: string, method: string): Endpoint | WrongMethod {
  const isList = path === '/v1/models';
  if (method === 'GET' || method === 'HEAD') return opaqueEndpoint('models', 'by-credential');
  // A fine-tuned model is deleted by its id.
  return isList || method !== 'DELETE'
    ? { allow: isList ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'DELETE'] }
    : opaqueEndpoint('other', 'by-credential');
}

/**
 * Paths under `/v1/` that the proxy itself answers; they never go to a provider, whether they exist
 * or not.
 */
function isOurs(path: string): boolean {
  return path === '/v1/svc' || path.startsWith('/v1/svc/');
}

/** A path with dot segments could leave the prefix of a provider's base URL. */
function hasDotSegment(path: string): boolean {
  return path.split(/\/|%2f|\\|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

function isUpgrade(headers: Headers): boolean {
  return headerValue(headers, 'upgrade')?.toLowerCase() === 'websocket';
}
