/** Finds a request by its id or by a part of it, and makes the short ids that people see. */
import { SvcError } from '../../engine/error.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

/** Number of newest ledger requests to search. */
export const MAX_SEARCHED = 100;

const SHORT_CHARS = 6;
/** Shortest accepted part of an id. */
const MIN_CHARS = 4;

/** Returns the end of an id, its random part; never a text that looks like an option. */
export function shortId(id: string): string {
  let from = Math.max(0, id.length - SHORT_CHARS);
  while (from > 0 && /^[-_]/.test(id.slice(from))) from -= 1;
  return id.slice(from);
}

/**
 * Returns the one of `ids` that equals, begins with or ends with `typed`; undefined if there is
 * none.
 *
 * @throws SvcError `usage` if several match.
 */
export function pickId(ids: readonly string[], typed: string): string | undefined {
  if (ids.includes(typed)) return typed;
  if (typed.length < MIN_CHARS) return undefined;
  const found = ids.filter((id) => id.endsWith(typed) || id.startsWith(typed));
  if (found.length <= 1) return found[0];
  throw new SvcError('usage', `'${typed}' is part of ${found.length} request ids`, {
    cure: `They are ${found.slice(0, 5).map(shortId).join(', ')}.`,
  });
}

/**
 * Returns the first of `rows`, or the one whose id equals, begins with or ends with `id`. Throws
 * `not_found`, and `usage` if several match.
 */
export function pickRow(rows: readonly LedgerRow[], id: string | undefined): LedgerRow {
  const fullId =
    id === undefined
      ? rows[0]?.id
      : pickId(
          rows.map((row) => row.id),
          id,
        );
  const row = rows.find((one) => one.id === fullId);
  if (row === undefined) throw noRequest(id);
  return row;
}

/** Returns `not_found`: the ledger has no request, or none that matches `id`. */
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
