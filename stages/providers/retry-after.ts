/**
 * How long a provider asks us to wait. Its value is respected within bounds: a wait of zero would
 * hammer it, and one of a day would lose the key for a slip.
 */
import type { Headers } from '../model/headers.ts';
import { headerValue } from '../model/headers.ts';

/** The shortest accepted wait, in milliseconds. */
export const MIN_RETRY_AFTER_MS = 1_000;
/** The longest accepted wait, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 600_000;

/** The three forms of RFC 9110 §5.6.7; the last one has no zone and means GMT. */
const HTTP_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * Returns the wait in a `Retry-After` value, in milliseconds between `MIN_RETRY_AFTER_MS` and
 * `MAX_RETRY_AFTER_MS`; undefined for a value that is neither seconds nor an HTTP date (RFC 9110
 * §10.2.3). Fractions of seconds are accepted, since some providers send them. `wallMs` is the wall
 * time at which a date is read.
 */
export function parseRetryAfter(value: string, wallMs: number): number | undefined {
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return clampToLimits(Number(text) * 1000);
  if (!HTTP_DATE.test(text)) return undefined;
  const dateMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(dateMs) ? undefined : clampToLimits(dateMs - wallMs);
}

/**
 * Returns the wait that a response asks for, in milliseconds and clamped the same way: from
 * `retry-after-ms`, the more precise header that some providers send in addition, else from
 * `retry-after`. Undefined without either.
 */
export function retryAfterMs(headers: Headers, wallMs: number): number | undefined {
  const exact = headerValue(headers, 'retry-after-ms')?.trim();
  if (exact !== undefined && /^\d+(?:\.\d+)?$/.test(exact)) return clampToLimits(Number(exact));
  const value = headerValue(headers, 'retry-after');
  return value === undefined ? undefined : parseRetryAfter(value, wallMs);
}

function clampToLimits(ms: number): number {
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, ms));
}
