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

/** What begins like a key of ours where a word begins: that is enough in a place that is for keys. */
const BEGINS_LIKE_OURS = /(?<![\w-])svc_[\w-]*/g;
/** The same of a whole key, for places that are not for keys. */
const WHOLE_WORD = /(?<![\w-])svc_[\w-]{43}(?![\w-])/g;
/**
 * A whole key glued to something. Long tokens of others hold these letters by chance (one in ten
 * thousand of 2,000 characters), so only a key that this proxy has made counts here.
 */
const GLUED = /svc_[\w-]{43}/g;

/** Something that may be a key of ours. */
export interface Candidate {
  readonly key: string;
  /** True if it has the shape of one: known or not, no provider gets it. */
  readonly isOurShape: boolean;
}

/** True for what has the shape of a key of ours, or of what is left of one. */
export function looksLikeOurs(key: string): boolean {
  return /^svc_[\w-]*$/.test(key);
}

/** The head of a request: its fields, and its path and query. */
export interface Head {
  readonly headers: Headers;
  readonly target: string;
}

/**
 * Everything in `head` that may be a key of ours: what stands where keys stand, and elsewhere what
 * has their shape. `X-Svc-Key` itself is not looked at. In the order of the head, some twice.
 */
export function keysIn({ headers, target }: Head): readonly Candidate[] {
  const found: Candidate[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2)
    found.push(...keysOfField(headers[i]!.toLowerCase(), headers[i + 1]!));
  for (const pair of pairsOf(target)) found.push(...keysOfPair(pair));
  return found;
}

/** True if the path itself holds what has the shape of a key: there it cannot be taken out. */
export function isKeyInPath(path: string): boolean {
  return /svc|%/.test(path) && matchesOf(decoded(path), WHOLE_WORD).length > 0;
}

/** `head` without the fields and query parameters that hold one of `keys`. */
export function withoutKeys({ headers, target }: Head, keys: readonly string[]): Head {
  const isTaken = ({ key }: Candidate): boolean => keys.includes(key);
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

function keysOfField(name: string, value: string): readonly Candidate[] {
  if (name === 'x-svc-key') return [];
  if (name === SUBPROTOCOL) return keysOfProtocols(value);
  if (KEY_FIELDS.includes(name) || name === 'proxy-authorization') return keysOfCredential(value);
  if (!value.includes('svc_')) return [];
  // The name of a cookie is no key; the dashboard's begins like one.
  if (name === 'cookie')
    return value
      .split(';')
      .flatMap((cookie) => keysAmong(cookie.slice(cookie.indexOf('=') + 1), BEGINS_LIKE_OURS));
  return keysAmong(value, isCredentialField(name) ? BEGINS_LIKE_OURS : WHOLE_WORD);
}

/** What has our shape in a text, as `words` has it, and whole keys of ours that are glued to something. */
function keysAmong(text: string, words: RegExp): readonly Candidate[] {
  if (!text.includes('svc_')) return [];
  return [
    ...matchesOf(text, words).map((key) => ({ key, isOurShape: true })),
    ...matchesOf(text, GLUED).map((key) => ({ key, isOurShape: false })),
  ];
}

function matchesOf(text: string, pattern: RegExp): readonly string[] {
  return text.match(pattern) ?? [];
}

/** A credential with or without its scheme; of `Basic` (RFC 7617) the user and the password. */
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
    ...texts.filter((key) => key !== '').map((key) => ({ key, isOurShape: false })),
  ];
}

/** `realtime, openai-insecure-api-key.<key>`, or a protocol that is the key. */
function keysOfProtocols(value: string): readonly Candidate[] {
  return value.split(',').flatMap((protocol) => {
    const name = protocol.trim();
    const texts = [name, name.slice(name.indexOf('.') + 1)];
    return [
      ...keysAmong(name, BEGINS_LIKE_OURS),
      ...texts.map((key) => ({ key, isOurShape: false })),
    ];
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

function keysOfPair(pair: string): readonly Candidate[] {
  const equals = pair.indexOf('=');
  const name = decoded(equals < 0 ? '' : pair.slice(0, equals));
  const value = decoded(pair.slice(equals + 1));
  if (KEY_PARAMETERS.has(name.toLowerCase())) return value === '' ? [] : keysOfCredential(value);
  return keysAmong(decoded(pair), WHOLE_WORD);
}

/** Percent-encoding undone; what is none stays as it is. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  return spaced.replaceAll(/(?:%[0-9a-f]{2})+/gi, (octets) =>
    Buffer.from(octets.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
