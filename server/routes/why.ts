/**
 * `/why/<id>`: why a request cost, missed, failed or saved what it did; `last` is the newest one.
 */
import { SvcError } from '../../engine/index.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { MAX_SEARCHED, pickRow } from '../facts/find-request.ts';
import { whyJson } from '../facts/why.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

export function whyRoutes({ ask, services }: RouteSources): Route[] {
  return [
    getJson('/why/:id', async (_request, { params }) => {
      const id = params['id'] === 'last' ? undefined : params['id'];
      const rows = await ask((reader, queries) =>
        queries.newestRows(reader, { sinceMs: 0, ...(id !== undefined && { id }) }, MAX_SEARCHED),
      );
      const row = rowOf(rows, id);
      const { requestJson } = await import('../../stages/ledger/request-json.ts');
      return whyJson(requestJson(row), services.traces.get(row.id));
    }),
  ];
}

/** An ambiguous id is a bad request; the error lists the matching ids. */
function rowOf(rows: readonly LedgerRow[], id: string | undefined): LedgerRow {
  try {
    return pickRow(rows, id);
  } catch (thrown) {
    if (!(thrown instanceof SvcError) || thrown.kind !== 'usage') throw thrown;
    throw new SvcError('bad_request', [thrown.message, thrown.cure].join('. '), { cause: thrown });
  }
}
