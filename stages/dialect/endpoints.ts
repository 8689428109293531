/**
 * Which requests are proxied, and how: by method and path, before anything of the body is
 * read. Other stages and the server ask here and nowhere else.
 */
import { SvcError } from '../../engine/index.ts';
import { headerValue } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';
import { pathOf } from '../model/target.ts';
import type { DialectName } from '../model/dialect.ts';
import type { Endpoint, EndpointKind, Operation, WrongMethod } from '../model/endpoint.ts';

const MESSAGES = generating('messages', 'messages');
const CHAT = generating('chat', 'chat');
const RESPONSES = generating('responses', 'chat');
const GENERATIVE = generating('generative', 'generative');
const PROBE = passing('probe', 'messages');

/** Paths that take one method only. */
const POSTS: ReadonlyMap<string, Endpoint> = new Map([
  ['/v1/messages', MESSAGES],
  ['/v1/messages/count_tokens', telling('count_tokens', 'messages')],
  ['/v1/chat/completions', CHAT],
  ['/v1/completions', telling('completions', 'chat')],
  ['/v1/responses', RESPONSES],
  ['/v1/responses/input_tokens', telling('count_tokens', 'chat')],
  ['/v1/responses/compact', telling('compact', 'chat')],
  ['/v1/embeddings', passing('embeddings', 'chat')],
]);

// A model's name may hold colons and slashes of its own: what is asked of it follows the last colon.
const GENERATE_CALL = /^\/v1(?:beta)?\/models\/.+:(?:generateContent|streamGenerateContent)$/;
const GENERATIVE_CALL = /^\/v1\/models\/.+:[A-Za-z]+$/;
/** What is posted to `collection/name:verb`. */
const CALL = /^\/v1(?:beta)?\/[A-Za-z]+\/.+:(\w+)$/;
/**
 * How `method` on `target` (path with query) is served, the methods allowed where this one
 * is not, or undefined where the path is none of the proxy's. Throws `upgrade_required`
 * for a WebSocket upgrade of `/v1/responses`: clients then go on over plain HTTP.
 */
export function resolveEndpoint(
  method: string,
  target: string,
  headers: Headers,
): Endpoint | WrongMethod | undefined {
  const path = pathOf(target);
  const post = POSTS.get(path);
  if (post !== undefined) {
    if (post === RESPONSES && isUpgrade(headers)) throw upgradeRefused();
    return method === 'POST' ? post : { allow: ['POST'] };
  }
  if (path === '/' || path === '/api/hello') {
    return method === 'HEAD' ? PROBE : path === '/' ? undefined : { allow: ['HEAD'] };
  }
  if (hasDotSegment(path) || isOurs(path)) return undefined;
  if (GENERATE_CALL.test(path)) return method === 'POST' ? GENERATIVE : { allow: ['POST'] };
  if (path === '/v1/models' || path.startsWith('/v1/models/')) return modelsEndpoint(path, method);
  if (path.startsWith('/v1beta/')) return generativeEndpoint(path, method);
  if (path.startsWith('/v1/messages/')) {
    const isBatch = method === 'POST' && path === '/v1/messages/batches';
    return isBatch ? telling('other', 'messages') : passing('other', 'messages');
  }
  if (path.startsWith('/v1/responses/')) return passing('other', 'chat');
  return path.startsWith('/v1/') && path.length > 4 ? passing('other', 'by-credential') : undefined;
}

/** The kind of provider that a request's own credential fields belong to. */
export function kindByCredential(headers: Headers): EndpointKind {
  const hasField = (name: string): boolean => headerValue(headers, name) !== undefined;
  if (hasField('x-api-key') || hasField('anthropic-version')) return 'messages';
  return hasField('x-goog-api-key') ? 'generative' : 'chat';
}

function generating(dialect: DialectName, defaultKind: EndpointKind): Endpoint {
  const what = { dialect, operation: 'generate', rewritable: true, isConversation: true } as const;
  return Object.freeze({ ...what, defaultKind });
}

/** A path whose body passes unread and is a conversation all the same. */
function telling(operation: Operation, defaultKind: EndpointKind): Endpoint {
  return Object.freeze({ ...passing(operation, defaultKind), isConversation: true });
}

function passing(operation: Operation, defaultKind: Endpoint['defaultKind']): Endpoint {
  const what = { dialect: 'opaque', rewritable: false, isConversation: false } as const;
  return Object.freeze({ ...what, operation, defaultKind });
}

/** A path that only the generative kind has, other than a model's own generation. */
function generativeEndpoint(path: string, method: string): Endpoint {
  if (method !== 'POST') return passing('other', 'generative');
  if (path === '/v1beta/cachedContents') return telling('other', 'generative');
  // The verb by itself: an expression that looks for words inside it costs the square of its length.
  const verb = CALL.exec(path)?.[1] ?? '';
  if (!/count|generate/i.test(verb)) return passing('other', 'generative');
  return telling(/^count/i.test(verb) ? 'count_tokens' : 'other', 'generative');
}

function modelsEndpoint(path: string, method: string): Endpoint | WrongMethod {
  // A fine-tuned model's id has colons as well, but nobody posts to it.
  if (method === 'POST' && GENERATIVE_CALL.test(path)) return generativeEndpoint(path, method);
  const isList = path === '/v1/models';
  if (method === 'GET' || method === 'HEAD') return passing('models', 'by-credential');
  // A fine-tuned model is deleted by its id.
  return isList || method !== 'DELETE'
    ? { allow: isList ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'DELETE'] }
    : passing('other', 'by-credential');
}

/** What the proxy itself answers under `/v1/`; it never goes to a provider, whether it exists or not. */
function isOurs(path: string): boolean {
  return path === '/v1/svc' || path.startsWith('/v1/svc/');
}

/** A path that climbs could leave the prefix of a provider's base URL. */
function hasDotSegment(path: string): boolean {
  return path.split(/\/|%2f|\\|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

function isUpgrade(headers: Headers): boolean {
  return headerValue(headers, 'upgrade')?.toLowerCase() === 'websocket';
}

function upgradeRefused(): SvcError {
  return new SvcError('upgrade_required', 'This path does not support WebSocket; send a POST', {
    cure: 'Set supports_websockets = false for this provider in the client.',
  });
}
