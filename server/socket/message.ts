/** Parses a client's WebSocket frame into the equivalent POST. */
import type { RawData } from 'ws';
import { noSuchPath, resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import { isObject, jsonTypeOf, parseBody } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { malformedRequest, wrongType } from '../../stages/model/errors.ts';
import { isCredentialField } from '../../stages/model/headers.ts';
import { isCleanTarget } from '../gate/target.ts';
import { withoutMembers } from '../../stages/wire/members.ts';
import { bytesOf } from './protocol.ts';
import type { MessagePost } from './protocol.ts';

/** Members of a frame that are for svc and not for the provider. */
const OURS: ReadonlySet<string> = new Set(['api_key', 'gzip', 'endpoint']);

/**
 * Allowed characters and length for values that go into a request head. Frame values become such a
 * head at the provider, which must not receive what no HTTP client could send.
 */
const HEAD_TEXT = /^[!-~]{1,8192}$/;

/**
 * Parses a client's frame. Throws VALIDATION_001 and _003, `bad_request` for values that no HTTP
 * request can contain, and `not_found` for an endpoint that is not proxied.
 */
export function readMessage(
  data: RawData,
  isBinary: boolean,
  headers: readonly string[],
): Omit<MessagePost, 'form'> {
  if (isBinary) throw malformedRequest('Send one JSON text frame per request');
  const bytes = bytesOf(data);
  const message = parseBody(bytes.toString('utf8'));
  if (!isObject(message)) throw wrongType('frame', 'object', jsonTypeOf(message));
  const target = textMember(message, 'endpoint') ?? '/v1/messages';
  if (!HEAD_TEXT.test(target) || !isCleanTarget(target)) {
    throw malformedRequest(
      "Field 'endpoint' contains characters that a path may not contain, or is too long",
    );
  }
  const endpoint = resolveEndpoint('POST', target, []);
  if (endpoint === undefined || 'allow' in endpoint) throw noSuchPath(target);
  // An empty key counts as none, like an empty header.
  const key = textMember(message, 'api_key') || undefined;
  if (key !== undefined && !HEAD_TEXT.test(key)) {
    throw malformedRequest("Field 'api_key' contains characters that a key may not contain");
  }
  const strays = strayKeys(message);
  const isOurs = (name: string): boolean => OURS.has(name) || strays.has(name);
  return {
    endpoint,
    target,
    headers: [
      ...headers,
      ...ofRequest(endpoint, key, headers),
      ...[...strays.values()].flatMap((stray) => ['api-key', stray]),
    ],
    bytes: withoutMembers(bytes, isOurs),
    gzip: message['gzip'] === true,
  };
}

/**
 * Returns members with other names for a key that contain one of this proxy's: no provider may get
 * it in a body either.
 */
function strayKeys(message: JsonObject): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(message)) {
    if (OURS.has(name) || typeof value !== 'string' || !isCredentialField(name)) continue;
    const key = /^(?:Bearer +)?(svc_[!-~]{0,1024})$/i.exec(value)?.[1];
    if (key !== undefined) found.set(name, key);
  }
  return found;
}

function textMember(message: JsonObject, name: string): string | undefined {
  if (!Object.hasOwn(message, name)) return undefined;
  const value = message[name];
  if (typeof value === 'string') return value;
  throw wrongType(name, 'string', jsonTypeOf(value));
}

/** Returns the headers that a POST of this frame would have had. */
function ofRequest(
  endpoint: Endpoint,
  key: string | undefined,
  given: readonly string[],
): string[] {
  const dialect = dialects[endpoint.dialect];
  const [required] = dialect.requiredHeaders;
  const isGiven = given.some((field) => field.toLowerCase() === required);
  return [
    'Content-Type',
    'application/json',
    ...(isGiven ? [] : dialect.requiredHeaders),
    ...(key === undefined ? [] : dialect.keyHeaders(key, 'key')),
  ];
}
