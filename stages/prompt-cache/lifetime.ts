/**
 * How long after a conversation's last request a provider keeps its cached prefix, as far as the
 * request shows: the guaranteed time, and the longest. Rewriting a prefix that may still be cached
 * would cost more than it saves; a pause explains a missing prefix only after the guaranteed time.
 */
import { isObject } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { DialectName } from '../model/dialect.ts';
import { CACHE_LIFETIMES_MS, factsOf } from '../model/model-facts.ts';
import type { CacheLifetime } from '../model/model-facts.ts';
import { someMarker } from './markers.ts';

/**
 * Returns the longest time, in milliseconds, that the prefix of a request body in `dialect` may be
 * kept.
 */
export function cacheLifetimeMs(dialect: DialectName, body: unknown): number {
  if (!isObject(body)) return CACHE_LIFETIMES_MS['1h'];
  const chosen = chosenLifetime(dialect, body);
  if (dialect === 'messages') return CACHE_LIFETIMES_MS[chosen ?? '5m'];
  // Other providers keep it for five to ten minutes, and up to an hour under low load.
  return Math.max(CACHE_LIFETIMES_MS['1h'], CACHE_LIFETIMES_MS[chosen ?? '1h']);
}

/**
 * Returns the time, in milliseconds, that all of it is kept unless the provider runs short of
 * space: the part that one of several markers wrote for five minutes is gone after that.
 */
export function promisedLifetimeMs(
  dialect: DialectName,
  body: unknown,
  model: string | undefined,
): number {
  const longest = isObject(body) ? chosenLifetime(dialect, body) : undefined;
  const isMixed =
    longest === '1h' && isObject(body) && someMarker(body, (marker) => !isForAnHour(marker));
  const chosen = isMixed ? undefined : longest;
  return CACHE_LIFETIMES_MS[chosen ?? factsOf(model).lifetime];
}

/** Returns the lifetime that the request sets; undefined for the default. */
function chosenLifetime(dialect: DialectName, body: JsonObject): CacheLifetime | undefined {
  // A marker's default is five minutes.
  if (dialect === 'messages') return someMarker(body, isForAnHour) ? '1h' : undefined;
  if (body['prompt_cache_retention'] === '24h') return '24h';
  const options = body['prompt_cache_options'];
  const ttl = isObject(options) ? options['ttl'] : undefined;
  return ttl === '30m' || ttl === '12h' ? ttl : undefined;
}

function isForAnHour(marker: unknown): boolean {
  return isObject(marker) && marker['ttl'] === '1h';
}
