/** `/savings` and `/cache-stats`: savings by source, and each cache separately. */
import { missReportJson } from '../../stages/ledger/miss-json.ts';
import { cacheStatsJson, savingsJson } from '../../stages/ledger/report.ts';
import { invalidQuery } from '../http/query.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import { ISO_DATE, parseIsoDate } from './iso-date.ts';
import type { RouteSources } from './sources.ts';

export function savingsRoutes(sources: RouteSources): Route[] {
  return [
    getJson('/savings', async (request) => {
      const sinceMs = sinceOf(request);
      const nowMs = sources.services.clock.wallMs();
      const report = await sources.ask((reader, queries) =>
        queries.savingsReport(reader, nowMs, sinceMs),
      );
      return savingsJson(report);
    }),
    getJson('/savings/misses', async (request) => {
      const span = { sinceMs: sinceOf(request) };
      return missReportJson(
        await sources.ask((reader, queries) => queries.missReport(reader, span)),
      );
    }),
    getJson('/cache-stats', () => cachesJson(sources)),
  ];
}

/** Throws `invalid_request` for a value that is not an ISO date. */
function sinceOf(request: Request): number {
  const since = new URL(request.url).searchParams.get('since');
  const sinceMs = since === null ? 0 : parseIsoDate(since);
  if (sinceMs === undefined) throw invalidQuery('since', ISO_DATE);
  return sinceMs;
}

/** Returns the state of each cache; the response cache is null while it is off. */
export function cachesJson({ services, generations }: RouteSources) {
  const { window, compressor, answers } = services;
  const { bytes: sizeBytes, ...figures } = answers.store.stats();
  const isOn = generations.current.config.cache.enabled;
  return cacheStatsJson(window, compressor.figures(), isOn ? { ...figures, sizeBytes } : null);
}
