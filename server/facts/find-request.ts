/** A request among others: by its id, by the part of it that people type, and under the short id that they see. */
import { SvcError } from '../../engine/error.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

/** Of the ledger, how many requests one is looked for among. */
export const AMONG_NEWEST = 100;

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
