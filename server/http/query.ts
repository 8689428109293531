/** Values in a query that are not what the path takes. */
import { SvcError } from '../../engine/index.ts';

/** The error for a value; `wanted` says what it must be. */
export function invalidQuery(name: string, wanted: string): SvcError {
  const text = `Query '${name}' must be ${wanted}`;
  return new SvcError('bad_request', text, { code: 'VALIDATION_003' });
}

/** A whole number within bounds, or what stands for a missing one. Throws `bad_request`. */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  { fallback, least, most }: { fallback: number; least: number; most: number },
): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalidQuery(name, `a whole number from ${least} to ${most}`);
}
