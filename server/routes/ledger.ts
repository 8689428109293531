/** `/ledger/sums`: ledger totals in a form that can be added to those of other machines. */
import { hostname } from 'node:os';
import { toRowFilter } from '../dashboard/filter.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

export function ledgerRoutes({ ask, generations, services }: RouteSources): Route[] {
  // The ledger that is open: after a reload, a new address takes effect at the next start.
  const { db } = generations.current.config.ledger;
  return [
    getJson('/ledger/sums', async (request) => {
      const { sinceMs, untilMs } = toRowFilter(spanOf(new URL(request.url).searchParams));
      const [{ ledgerSums, ledgerSumsJson }, { ledgerId }] = await Promise.all([
        import('../../stages/ledger/summary.ts'),
        import('../../stages/ledger/ledger-id.ts'),
      ]);
      const span = { sinceMs, ...(untilMs !== undefined && { untilMs }) };
      const [sums, ledger] = await ask(async (reader) => [
        ledgerSumsJson(await ledgerSums(reader, span)),
        await ledgerId(db, hostname(), reader),
      ]);
      return { node: services.node, ledger, ...sums };
    }),
  ];
}

function spanOf(query: URLSearchParams): URLSearchParams {
  const names = ['since', 'until'];
  return new URLSearchParams([...query].filter(([name]) => names.includes(name)));
}
