/**
 * For how long after its last request a provider may still have what a conversation sent, as far
 * as the request shows. The longest that is known counts: rewriting a prefix that is still cached
 * would cost more than it saves.
 */
import { isObject } from '../dialect/json-kind.ts';
import type { DialectName } from '../model/dialect.ts';
import { LIFETIME_MS } from '../model/conversation.ts';
import { someMarker } from './markers.ts';

/** How long the provider keeps what a marker with `ttl: 1h` wrote. */
export const HOUR_MS = 3_600_000;

/** Milliseconds, of a request body in `dialect`. */
export function cacheLifetimeMs(dialect: DialectName, body: unknown): number {
  if (!isObject(body)) return HOUR_MS;
  // Other providers keep it for five to ten minutes, and for up to an hour when they are not busy.
  if (dialect !== 'messages')
    return body['prompt_cache_retention'] === '24h' ? 24 * HOUR_MS : HOUR_MS;
  return someMarker(body, isForAnHour) ? HOUR_MS : LIFETIME_MS;
}

/** Five minutes is what a marker has by default. */
function isForAnHour(marker: unknown): boolean {
  return isObject(marker) && marker['ttl'] === '1h';
}
