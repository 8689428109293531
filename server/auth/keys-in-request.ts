/**
 * Finds the keys of this proxy in a request's head. SDKs, editors and Prometheus have one place for
 * a key, which is the provider's: a proxy key there counts as if in `X-Svc-Key`, and is removed
 * before the request is forwarded (decisions §6).
 */
import { KEY_FIELDS, isCredentialField } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import { queryOf } from '../gate/target.ts';

/** Where a client that cannot set headers sends its key: a browser's WebSocket. */
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

/** A word that begins like one of our keys: enough in a place meant for keys. */
const BEGINS_LIKE_OURS = /(?<![\w-])svc_[\w-]*/g;
/** A word that is a whole key, for places not meant for keys. */
const WHOLE_WORD = /(?<![\w-])svc_[\w-]{43}(?![\w-])/g;
/**
 * A whole key inside a longer word. Long tokens of others contain this pattern by chance (one in
 * ten thousand of 2,000 characters), so here only a key that this proxy has made counts.
 */
const KEY_INSIDE_WORD = /svc_[\w-]{43}/g;

/** Text that may be one of our keys. */
export interface Candidate {
  readonly key: string;
  /** True if it has the format of our keys: known or not, it is never sent to a provider. */
  readonly isOurFormat: boolean;
}

/** True for text in the format of our keys, whole or truncated. */
export function looksLikeOurs(key: string): boolean {
  return /^svc_[\w-]*$/.test(key);
}

/** The head of a request: its headers, path and query. */
export interface Head {
  readonly headers: Headers;
  readonly target: string;
}

/**
 * Returns everything in `head` that may be one of our keys: the values in places meant for keys,
 * and text in our format elsewhere. `X-Svc-Key` itself is not examined. In the order of the head;
 * may contain duplicates.
 */
export function keysIn({ headers, target }: Head): readonly Candidate[] {
  const found: Candidate[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2)
    found.push(...keysOfField(headers[i]!.toLowerCase(), headers[i + 1]!));
  for (const pair of pairsOf(target)) found.push(...keysOfPair(pair));
  return found;
}

/** True if the path itself contains text in our key format, which cannot be removed there. */
export function isKeyInPath(path: string): boolean {
  return /svc|%/.test(path) && matchesOf(percentDecode(path), WHOLE_WORD).length > 0;
}

/** Returns `head` without the headers and query parameters that hold one of `keys`. */
export function withoutKeys({ headers, target }: Head, keys: readonly string[]): Head {
  const isPresented = ({ key }: Candidate): boolean => keys.includes(key);
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!];
    if (!keysOfField(name.toLowerCase(), value).some(isPresented)) kept.push(name, value);
  }
  const pairs = pairsOf(target);
  const rest = pairs.filter((pair) => !keysOfPair(pair).some(isPresented));
  if (rest.length === pairs.length) return { headers: kept, target };
  const path = target.slice(0, target.length - queryOf(target).length);
  return { headers: kept, target: rest.length === 0 ? path : `${path}?${rest.join('&')}` };
}

function keysOfField(name: string, value: string): readonly Candidate[] {
  if (name === 'x-svc-key') return [];
  if (name === SUBPROTOCOL) return keysOfProtocols(value);
  if (KEY_FIELDS.includes(name) || name === 'proxy-authorization') return keysOfCredential(value);
  if (!value.includes('svc_')) return [];
  // A cookie's name is not a key, although the dashboard's begins like one.
  if (name === 'cookie')
    return value
      .split(';')
      .flatMap((cookie) => keysAmong(cookie.slice(cookie.indexOf('=') + 1), BEGINS_LIKE_OURS));
  return keysAmong(value, isCredentialField(name) ? BEGINS_LIKE_OURS : WHOLE_WORD);
}

/** Returns the matches of `pattern` in a text, and our whole keys inside longer words. */
function keysAmong(text: string, pattern: RegExp): readonly Candidate[] {
  if (!text.includes('svc_')) return [];
  return [
    ...matchesOf(text, pattern).map((key) => ({ key, isOurFormat: true })),
    ...matchesOf(text, KEY_INSIDE_WORD).map((key) => ({ key, isOurFormat: false })),
  ];
}

function matchesOf(text: string, pattern: RegExp): readonly string[] {
  return text.match(pattern) ?? [];
}

/**
 * Returns the keys in a credential with or without its scheme; for `Basic` (RFC 7617), user and
 * password.
 */
function keysOfCredential(value: string): readonly Candidate[] {
  const whole = value.trim();
  const [, scheme = '', rest = ''] = /^(\S+)[ \t]+(\S.*)$/.exec(whole) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const pair = isBasic ? Buffer.from(rest, 'base64').toString('utf8') : '';
  const colon = pair.indexOf(':');
  const texts = [whole, rest, pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1)];
  return [
    ...keysAmong(whole, BEGINS_LIKE_OURS),
    ...keysAmong(pair, BEGINS_LIKE_OURS),
    ...texts.filter((key) => key !== '').map((key) => ({ key, isOurFormat: false })),
  ];
}

/** `realtime, openai-insecure-api-key.<key>`, or a protocol that is the key. */
function keysOfProtocols(value: string): readonly Candidate[] {
  return value.split(',').flatMap((protocol) => {
    const name = protocol.trim();
    const texts = [name, name.slice(name.indexOf('.') + 1)];
    return [
      ...keysAmong(name, BEGINS_LIKE_OURS),
      ...texts.map((key) => ({ key, isOurFormat: false })),
    ];
  });
}

/** True for a subprotocol that carries a key, or could: it must not be echoed in the response. */
export function isKeyProtocol(name: string): boolean {
  return name.includes('svc_') || name.includes('key');
}

function pairsOf(target: string): readonly string[] {
  const query = queryOf(target);
  return query.length < 2 ? [] : query.slice(1).split('&');
}

function keysOfPair(pair: string): readonly Candidate[] {
  const equals = pair.indexOf('=');
  const name = percentDecode(equals < 0 ? '' : pair.slice(0, equals));
  const value = percentDecode(pair.slice(equals + 1));
  if (KEY_PARAMETERS.has(name.toLowerCase())) return value === '' ? [] : keysOfCredential(value);
  return keysAmong(percentDecode(pair), WHOLE_WORD);
}

/** Decodes percent-encoding; invalid sequences stay unchanged. */
function percentDecode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  return spaced.replaceAll(/(?:%[0-9a-f]{2})+/gi, (octets) =>
    Buffer.from(octets.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
