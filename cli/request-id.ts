/** Request ids for people: short ones on the screen, and the whole one again where one is typed. */
import { SvcError } from '../engine/error.ts';
import type { LedgerRow } from '../stages/ledger/row.ts';
import { readOwn } from './remote.ts';
import type { Json } from './remote.ts';

const SHORT_CHARS = 6;
/** What is typed of an id. */
const LEAST_CHARS = 4;

/** The end of an id, which is its random part; never one that looks like an option. */
export function shortId(id: string): string {
  let from = Math.max(0, id.length - SHORT_CHARS);
  while (from > 0 && /^[-_]/.test(id.slice(from))) from -= 1;
  return id.slice(from);
}

/**
 * The id of the request that `typed` is, begins or ends, among the newest.
 *
 * @throws SvcError `not_found` with the newest ids, `usage` where several fit.
 */
export async function resolveRequestId(home: string, typed: string): Promise<string> {
  const rows = await recentRequests(home);
  const ids = rows.map((row) => String(row['request_id']));
  const found = pickId(ids, typed);
  if (found !== undefined) return found;
  // A request that is no longer among the newest may still be known by its whole id.
  if (typed.startsWith('req_')) {
    const trace = await readOwn(home, `/trace/${encodeURIComponent(typed)}`).catch(() => undefined);
    if (trace !== undefined) return typed;
  }
  const newest = ids.slice(0, 5).map(shortId).join(', ');
  throw new SvcError('not_found', `There is no request '${typed}' among the newest`, {
    cure:
      newest === '' ? 'No request has gone through the proxy yet.' : `The newest are ${newest}.`,
  });
}

/**
 * The one of `ids` that `typed` is, begins or ends; undefined where none is.
 *
 * @throws SvcError `usage` where several are.
 */
export function pickId(ids: readonly string[], typed: string): string | undefined {
  if (ids.includes(typed)) return typed;
  if (typed.length < LEAST_CHARS) return undefined;
  const found = ids.filter((id) => id.endsWith(typed) || id.startsWith(typed));
  if (found.length <= 1) return found[0];
  throw new SvcError('usage', `'${typed}' is part of ${found.length} request ids`, {
    cure: `They are ${found.slice(0, 5).map(shortId).join(', ')}.`,
  });
}

/** The rows of `/recent`, newest first. */
export async function recentRequests(home: string): Promise<readonly Json[]> {
  const { recent } = await readOwn(home, '/recent');
  return Array.isArray(recent) ? (recent as Json[]) : [];
}

/** The first of `rows`, or the one whose id `id` is, begins or ends. Throws `not_found`, and `usage` where several fit. */
export function pickRow(rows: readonly LedgerRow[], id: string | undefined): LedgerRow {
  const wanted =
    id === undefined
      ? rows[0]?.id
      : pickId(
          rows.map((row) => row.id),
          id,
        );
  const row = rows.find((one) => one.id === wanted);
  if (row === undefined) throw noRequest(id);
  return row;
}

/** `not_found`: the ledger has no request, or none that `id` begins or ends. */
function noRequest(id: string | undefined): SvcError {
  return id === undefined
    ? new SvcError('not_found', 'No request has gone through the proxy yet')
    : new SvcError(
        'not_found',
        `No request in the ledger has an id that begins or ends with ${JSON.stringify(id)}`,
        {
          cure: '`svc requests` lists the newest ones.',
        },
      );
}
