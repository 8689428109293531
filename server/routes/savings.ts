/** `/savings` and `/cache-stats`: what was saved, and by which cache; each kept apart from the others. */
import type { SavingsReport } from '../../stages/ledger/queries.ts';
import { savingsJson } from '../../stages/ledger/report.ts';
import type { cacheStatsJson } from '../../stages/ledger/report.ts';
import { invalidQuery } from '../http/query.ts';
import type { Route } from '../http/router.ts';
import { ISO_DATE, parseIsoDate } from './iso-date.ts';

export interface SavingsRouteOptions {
  /** What `/cache-stats` answers. */
  readonly caches: () => ReturnType<typeof cacheStatsJson>;
  /** The ledger's answer for requests from `sinceMs` on, the newest ones included. */
  readonly savings: (sinceMs: number) => Promise<SavingsReport>;
}

export function savingsRoutes(options: SavingsRouteOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/savings',
      async handle(request) {
        const since = new URL(request.url).searchParams.get('since');
        const sinceMs = since === null ? 0 : parseIsoDate(since);
        if (sinceMs === undefined) throw invalidQuery('since', ISO_DATE);
        return Response.json(savingsJson(await options.savings(sinceMs)));
      },
    },
    {
      method: 'GET',
      path: '/cache-stats',
      handle: () => Response.json(options.caches()),
    },
  ];
}
