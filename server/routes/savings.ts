/** `/savings` and `/cache-stats`: what was saved, and by which cache; each kept apart from the others. */
import { SvcError } from '../../engine/index.ts';
import type { SavingsReport } from '../../stages/ledger/queries.ts';
import { savingsJson } from '../../stages/ledger/report.ts';
import type { cacheStatsJson } from '../../stages/ledger/report.ts';
import type { Route } from '../http/router.ts';
import { parseIsoDate } from './iso-date.ts';

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
        if (sinceMs === undefined) throw notADate();
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

function notADate(): SvcError {
  return new SvcError(
    'bad_request',
    'since is not an ISO 8601 date; write 2026-01-31 or 2026-01-31T12:00:00Z',
    {
      code: 'VALIDATION_003',
    },
  );
}
