/** What a dashboard's address says of the requests that it wants. */
import { SvcError } from '../../engine/index.ts';
import type { RowFilter } from '../../stages/ledger/queries.ts';
import { parseIsoDate } from '../routes/iso-date.ts';

const OUTCOMES = ['ok', 'error', 'cancelled', 'partial'] as const;
const LONGEST = 200;

/**
 * Reads `since`, `until` (ISO 8601), `model` (part of a name), `provider`, `client`, `session`,
 * `outcome` and `failed=1`; what is empty or missing does not matter. Throws `bad_request`.
 */
export function toRowFilter(query: URLSearchParams): RowFilter {
  const text = (name: string): string | undefined => {
    const value = query.get(name) ?? '';
    if (value.length > LONGEST) throw invalid(name, `at most ${LONGEST} characters`);
    return value === '' ? undefined : value;
  };
  const moment = (name: string): number | undefined => {
    const value = text(name);
    const atMs = value === undefined ? undefined : parseIsoDate(value);
    if (value !== undefined && atMs === undefined)
      throw invalid(name, 'an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z');
    return atMs;
  };
  const asked = text('outcome');
  const outcome = OUTCOMES.find((one) => one === asked);
  if (asked !== undefined && outcome === undefined)
    throw invalid('outcome', `one of ${OUTCOMES.join(', ')}`);
  const untilMs = moment('until');
  const model = text('model');
  const provider = text('provider');
  const client = text('client');
  const sessionId = text('session');
  return {
    sinceMs: moment('since') ?? 0,
    ...(untilMs !== undefined && { untilMs }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(client !== undefined && { client }),
    ...(sessionId !== undefined && { sessionId }),
    ...(outcome !== undefined && { outcome }),
    ...(text('failed') === '1' && { failed: true }),
  };
}

/** A whole number from 1 to `most`. Throws `bad_request`. */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  fallback: number,
  most: number,
): number {
  const value = query.get(name);
  if (value === null) return fallback;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > most) throw invalid(name, `a whole number from 1 to ${most}`);
  return number;
}

function invalid(name: string, wanted: string): SvcError {
  return new SvcError('bad_request', `Query '${name}' must be ${wanted}`, {
    code: 'VALIDATION_003',
  });
}
