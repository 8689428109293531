/** `/ledger/sums`: the ledger in a form that adds up with those of other machines. */
import { hostname } from 'node:os';
import { ledgerId } from '../../stages/ledger/ledger-id.ts';
import { toRowFilter } from '../dashboard/filter.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

export function ledgerRoutes({ ask, generations, services }: RouteSources): Route[] {
  return [
    getJson('/ledger/sums', async (request) => {
      const { sinceMs, untilMs } = toRowFilter(spanOf(new URL(request.url).searchParams));
      const { summaryJson, summaryOf } = await import('../../stages/ledger/summary.ts');
      const span = { sinceMs, ...(untilMs !== undefined && { untilMs }) };
      const summary = await ask((reader) => summaryOf(reader, span));
      const ledger = ledgerId(generations.current.config.ledger.db, hostname());
      return { node: services.node, ledger, ...summaryJson(summary) };
    }),
  ];
}

function spanOf(query: URLSearchParams): URLSearchParams {
  const names = ['since', 'until'];
  return new URLSearchParams([...query].filter(([name]) => names.includes(name)));
}
