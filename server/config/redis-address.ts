/**
 * The address of a Redis server from `shared.redis_url`. It may contain a password, so nothing here
 * quotes it.
 */
import { isLoopbackHost } from './address.ts';

/** Connection options for a client. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Undefined if the URL has none: Redis then uses its default user. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The number of the database. */
  readonly db: number;
}

const DEFAULT_PORT = 6379;
const CURE = 'write redis://[user:password@]host[:port][/number], or rediss:// for TLS';

/** Returns why `text` is not a valid Redis address; undefined if it is. */
export function redisFault(text: string): string | undefined {
  if (/[?#]/.test(text))
    return 'it may not contain a query or a fragment; write ? and # in a password as %3F and %23';
  if (!URL.canParse(text)) return `it is not the URL of a Redis server; ${CURE}`;
  const url = new URL(text);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    return `it does not begin with redis:// or rediss://; ${CURE}`;
  if (url.hostname === '') return `it names no host; ${CURE}`;
  if (url.port === '0') return `no server listens on port 0; ${CURE}`;
  if (!/^\/?\d{0,5}$/.test(url.pathname))
    return `what follows the host must be the number of a database, such as /0; ${CURE}`;
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return 'its user or password has a % that does not begin an escape; write it as %25';
  }
  return undefined;
}

/** Parses a valid URL. */
export function redisAddress(text: string): RedisAddress {
  const url = new URL(text);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    tls: url.protocol === 'rediss:',
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    db: Number(url.pathname.slice(1) || 0),
  };
}

/** A shorter password occurs in any text by chance, so it cannot be masked. */
const MIN_SECRET_CHARS = 4;

/** Returns the parts of an address that must not be logged or shown. */
export function redisSecrets(text: string | null): readonly string[] {
  const { password = '' } = text === null ? {} : redisAddress(text);
  return password.length < MIN_SECRET_CHARS ? [] : [password];
}

/** Returns the address for display: without user and password. */
export function redisPlace({ host, port, db }: RedisAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}${db === 0 ? '' : `/${db}`}`;
}

/** Returns a warning if data travels unencrypted to another machine; undefined otherwise. */
export function unencryptedRedis(text: string | null): string | undefined {
  if (text === null) return undefined;
  const address = redisAddress(text);
  if (address.tls || isLoopbackHost(address.host)) return undefined;
  return `shared.redis_url: redis:// sends the password to ${redisPlace(address)} unencrypted; use rediss:// unless the network between is encrypted itself`;
}
