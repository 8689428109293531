/**
 * How long a provider asks us to wait. What it says is obeyed within bounds: a
 * wait of zero would hammer it, and one of a day would lose the key for a slip.
 */
import type { Headers } from '../model/headers.ts';
import { headerValue } from '../model/headers.ts';

/** The shortest wait that is believed, in milliseconds. */
export const MIN_RETRY_AFTER_MS = 1_000;
/** The longest wait that is believed, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 600_000;

/** The three forms of RFC 9110 §5.6.7; the last one carries no zone and means GMT. */
const HTTP_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * The wait in a `Retry-After` value, in milliseconds between `MIN_RETRY_AFTER_MS` and
 * `MAX_RETRY_AFTER_MS`; undefined for a value that is neither seconds nor an HTTP date
 * (RFC 9110 §10.2.3). Fractions of seconds are taken, since some providers send them.
 * `wallMs` is the wall time at which a date is read.
 */
export function parseRetryAfter(value: string, wallMs: number): number | undefined {
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return clamped(Number(text) * 1000);
  if (!HTTP_DATE.test(text)) return undefined;
  const dateMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(dateMs) ? undefined : clamped(dateMs - wallMs);
}

/**
 * The wait that a response asks for, in milliseconds and clamped alike: from
 * `retry-after-ms`, which some providers send beside the other one and mean more
 * exactly, else from `retry-after`. Undefined where neither says anything.
 */
export function retryAfterMs(headers: Headers, wallMs: number): number | undefined {
  const exact = headerValue(headers, 'retry-after-ms')?.trim();
  if (exact !== undefined && /^\d+(?:\.\d+)?$/.test(exact)) return clamped(Number(exact));
  const value = headerValue(headers, 'retry-after');
  return value === undefined ? undefined : parseRetryAfter(value, wallMs);
}

function clamped(ms: number): number {
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, ms));
}
