/**
 * Finds the keys of this proxy in a request's head. SDKs, editors and Prometheus have one place for
 * a key, and it is the provider's: a proxy key there counts like one in `X-Svc-Key`, and is taken
 * out before the request goes anywhere (decisions §6).
 */
import { KEY_FIELDS, isCredentialField } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import { queryOf } from '../gate/target.ts';

/** Where the key of a request without header fields of its own stands: a browser's WebSocket. */
const SUBPROTOCOL = 'sec-websocket-protocol';
const KEY_PARAMETERS: ReadonlySet<string> = new Set([
  'key',
  'api_key',
  'api-key',
  'apikey',
  'access_token',
  'token',
  'x-svc-key',
]);

/** What begins like a key of ours where a word begins, in a place that is for keys. */
const BEGINS_LIKE_OURS = /(?<![\w-])svc_[\w-]*/g;
/** A key of ours as it is made, whatever it was glued to; nothing else in a place that is not for keys. */
const WHOLE_KEY = /svc_[\w-]{43}/g;

/** True for what no provider may get: one of our keys, or what is left of one. */
export function looksLikeOurs(key: string): boolean {
  return key.startsWith('svc_');
}

/** The head of a request: its fields, and its path and query. */
export interface Head {
  readonly headers: Headers;
  readonly target: string;
}

/**
 * Everything in `head` that may be a key of ours: what stands where keys stand, and elsewhere what
 * has their shape. `X-Svc-Key` itself is not looked at. Each once, in the order of the head.
 */
export function keysIn({ headers, target }: Head): readonly string[] {
  const found = new Set<string>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    for (const key of keysOfField(headers[i]!.toLowerCase(), headers[i + 1]!)) found.add(key);
  }
  for (const pair of pairsOf(target)) for (const key of keysOfPair(pair)) found.add(key);
  return [...found];
}

/** True if the path itself holds what has the shape of a key: there it cannot be taken out. */
export function isKeyInPath(path: string): boolean {
  return /svc|%/.test(path) && (decoded(path).match(WHOLE_KEY) ?? []).length > 0;
}

/** `head` without the fields and query parameters that hold one of `keys`. */
export function withoutKeys({ headers, target }: Head, keys: readonly string[]): Head {
  const isTaken = (key: string): boolean => keys.includes(key);
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!];
    if (!keysOfField(name.toLowerCase(), value).some(isTaken)) kept.push(name, value);
  }
  const pairs = pairsOf(target);
  const rest = pairs.filter((pair) => !keysOfPair(pair).some(isTaken));
  if (rest.length === pairs.length) return { headers: kept, target };
  const path = target.slice(0, target.length - queryOf(target).length);
  return { headers: kept, target: rest.length === 0 ? path : `${path}?${rest.join('&')}` };
}

function keysOfField(name: string, value: string): readonly string[] {
  if (name === 'x-svc-key') return [];
  if (name === SUBPROTOCOL) return keysOfProtocols(value);
  const isForKeys = KEY_FIELDS.includes(name) || name === 'proxy-authorization';
  if (isForKeys) return keysOfCredential(value);
  if (!value.includes('svc_')) return [];
  return isCredentialField(name) ? keysAmong(value) : (value.match(WHOLE_KEY) ?? []);
}

/** What looks like a key of ours in a text that is meant to be one. */
function keysAmong(text: string): readonly string[] {
  return [...(text.match(WHOLE_KEY) ?? []), ...(text.match(BEGINS_LIKE_OURS) ?? [])];
}

/** A credential with or without its scheme; of `Basic` (RFC 7617) the user and the password. */
function keysOfCredential(value: string): readonly string[] {
  const whole = value.trim();
  const [, scheme = '', rest = ''] = /^(\S+)[ \t]+(\S.*)$/.exec(whole) ?? [];
  const found = [whole, rest, ...keysAmong(whole)];
  if (scheme.toLowerCase() === 'basic') {
    const pair = Buffer.from(rest, 'base64').toString('utf8');
    const colon = pair.indexOf(':');
    found.push(pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1));
    found.push(...keysAmong(pair));
  }
  return found.filter((key) => key !== '');
}

/** `realtime, openai-insecure-api-key.<key>`, or a protocol that is the key. */
function keysOfProtocols(value: string): readonly string[] {
  return value.split(',').flatMap((protocol) => {
    const name = protocol.trim();
    return [name, name.slice(name.indexOf('.') + 1), ...keysAmong(name)];
  });
}

/** True for a subprotocol that carries a key, or could: it must not be repeated in the answer. */
export function isKeyProtocol(name: string): boolean {
  return name.includes('svc_') || name.includes('key');
}

function pairsOf(target: string): readonly string[] {
  const query = queryOf(target);
  return query.length < 2 ? [] : query.slice(1).split('&');
}

function keysOfPair(pair: string): readonly string[] {
  const equals = pair.indexOf('=');
  const name = decoded(equals < 0 ? '' : pair.slice(0, equals));
  const value = decoded(pair.slice(equals + 1));
  if (KEY_PARAMETERS.has(name.toLowerCase())) return value === '' ? [] : keysOfCredential(value);
  return decoded(pair).match(WHOLE_KEY) ?? [];
}

/** Percent-encoding undone; what is none stays as it is. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  return spaced.replaceAll(/(?:%[0-9a-f]{2})+/gi, (octets) =>
    Buffer.from(octets.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
