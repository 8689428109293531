/** Validates values of a query string. */
import { SvcError } from '../../engine/index.ts';

/** Returns the error for an invalid value; `wanted` describes the valid ones. */
export function invalidQuery(name: string, wanted: string): SvcError {
  const text = `Query '${name}' must be ${wanted}`;
  return new SvcError('bad_request', text, { code: 'VALIDATION_003' });
}

/**
 * Returns a whole number within bounds, or `fallback` if the parameter is missing. Throws
 * `bad_request`.
 */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidQuery(name, `a whole number from ${min} to ${max}`);
}
