/**
 * `/dashboard`: the page, its files, its data, and its live events. Every other path below serves
 * the page too, which shows the view named in the path.
 */
import { SvcError } from '../../engine/index.ts';
import { emptyTotals } from '../../stages/ledger/figures.ts';
import type { RangeReport } from '../../stages/ledger/range-report.ts';
import type { RowFilter } from '../../stages/ledger/queries.ts';
import { notFound } from '../../stages/model/errors.ts';
import { requestJson } from '../../stages/ledger/request-json.ts';
import { costUnits } from '../dashboard/cost-units.ts';
import type { Feed } from '../dashboard/feed.ts';
import { toRowFilter, toRowOrder, toStackKey } from '../dashboard/filter.ts';
import { wholeOf } from '../http/query.ts';
import {
  reportJson,
  sessionReportJson,
  stacksJson,
  stepFor,
  toolGroupsJson,
} from '../dashboard/report-json.ts';
import { pageRoutes } from '../dashboard/page-routes.ts';
import { get, getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import { dashboardNowRoutes } from './dashboard-now.ts';
import type { RouteSources } from './sources.ts';

/** `/dashboard/api/report`. */
export type ReportJson = Awaited<ReturnType<typeof report>>;

/** `/dashboard/api/conversations`. */
export type ConversationsJson = Awaited<ReturnType<typeof conversations>>;

/** `/dashboard/api/request/<id>`. */
export type OneRequestJson = Awaited<ReturnType<typeof oneRequest>>;

/** `/dashboard/api/requests`. */
export interface RequestsJson {
  /** In the requested order, or newest first. */
  readonly requests: readonly ReturnType<typeof requestJson>[];
  /** False if more follow. */
  readonly complete: boolean;
}

const MAX_REQUESTS = 10_000;
const MAX_SESSIONS = 1000;
const MAX_OFFSET = 1_000_000;

export function dashboardRoutes(sources: RouteSources, feed: Feed): Route[] {
  return [
    get('/dashboard/events', (_request, { verdict, isStillAdmitted }) => {
      const headers = {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
      };
      // The log may repeat what a person wrote, which never leaves this machine.
      return new Response(feed.open(verdict === 'local', isStillAdmitted), { headers });
    }),
    getJson('/dashboard/api/requests', (request) => requests(sources, request)),
    getJson('/dashboard/api/report', (request) => report(sources, request)),
    getJson('/dashboard/api/stacks', (request) => stacks(sources, request)),
    getJson('/dashboard/api/tools', (request) => tools(sources, request)),
    getJson('/dashboard/api/conversations', (request) => conversations(sources, request)),
    getJson('/dashboard/api/request/:id', (_request, { params }) =>
      oneRequest(sources, params['id'] ?? ''),
    ),
    ...dashboardNowRoutes(sources),
    // Last, because they also match the paths above.
    ...pageRoutes(),
  ];
}

async function requests({ ask }: RouteSources, request: Request): Promise<RequestsJson> {
  const query = new URL(request.url).searchParams;
  const filter: RowFilter = toRowFilter(query);
  const limit = wholeOf(query, 'limit', { fallback: 200, min: 1, max: MAX_REQUESTS });
  const offset = wholeOf(query, 'offset', { fallback: 0, min: 0, max: MAX_OFFSET });
  const part = { order: toRowOrder(query), offset, max: limit + 1 };
  const rows = await ask((reader, queries) => queries.orderedRows(reader, filter, part)).catch(
    (thrown: unknown) => ifNoFile(thrown, []),
  );
  return { requests: rows.slice(0, limit).map(requestJson), complete: rows.length <= limit };
}

const EMPTY_REPORT: RangeReport = {
  totals: emptyTotals(),
  latency: { p50Ms: null, p95Ms: null, p99Ms: null, samples: 0 },
  buckets: [],
  byModel: [],
  byProvider: [],
  byClient: [],
  failures: [],
  injections: { requests: 0, chunks: 0, blocks: [] },
  attempts: { failedAttempts: 0, answeredLater: 0, thoughtsDropped: 0, thoughtsRefused: 0 },
};

async function report({ ask, services }: RouteSources, request: Request) {
  const filter = toRowFilter(new URL(request.url).searchParams);
  const untilMs = filter.untilMs ?? services.clock.wallMs();
  const { firstStartMs, rangeReport } = await import('../../stages/ledger/range-report.ts');
  const pending = ask(async (reader, _queries, memory) => {
    const seriesSinceMs = (await firstStartMs(reader, filter, memory)) ?? untilMs;
    const sinceMs = filter.sinceMs > 0 ? filter.sinceMs : seriesSinceMs;
    const bucketMs = stepFor(untilMs - seriesSinceMs);
    const range = { sinceMs, seriesSinceMs, untilMs, bucketMs };
    return reportJson(await rangeReport(reader, filter, range.bucketMs, memory), range);
  });
  return pending.catch((thrown: unknown) => {
    const sinceMs = filter.sinceMs > 0 ? filter.sinceMs : untilMs;
    const range = { sinceMs, seriesSinceMs: untilMs, untilMs, bucketMs: stepFor(0) };
    return reportJson(ifNoFile(thrown, EMPTY_REPORT), range);
  });
}

/** `/dashboard/api/stacks`. */
export type StacksJson = Awaited<ReturnType<typeof stacks>>;

async function stacks({ ask, services }: RouteSources, request: Request) {
  const query = new URL(request.url).searchParams;
  const filter = toRowFilter(query);
  const key = toStackKey(query);
  const untilMs = filter.untilMs ?? services.clock.wallMs();
  const { firstStartMs } = await import('../../stages/ledger/range-report.ts');
  const { stackedSeries } = await import('../../stages/ledger/stacked-series.ts');
  const pending = ask(async (reader, _queries, memory) => {
    const sinceMs = (await firstStartMs(reader, filter, memory)) ?? untilMs;
    const bucketMs = stepFor(untilMs - sinceMs);
    const found = await stackedSeries(reader, filter, key, bucketMs);
    return stacksJson(found, { sinceMs, untilMs, bucketMs });
  });
  return pending.catch((thrown: unknown) =>
    stacksJson(ifNoFile(thrown, []), { sinceMs: untilMs, untilMs, bucketMs: stepFor(0) }),
  );
}

/** `/dashboard/api/tools`. */
export type ToolsJson = Awaited<ReturnType<typeof tools>>;

async function tools({ ask }: RouteSources, request: Request) {
  const filter = toRowFilter(new URL(request.url).searchParams);
  const { toToolFilter, toolSums } = await import('../../stages/ledger/tools/tool-sums.ts');
  const kept = toToolFilter(filter);
  // Null means not recorded, as opposed to no tools at all.
  if (kept === undefined) return { tools: null, mcp_servers: null };
  const pending = ask(async (reader) => ({
    tools: toolGroupsJson(await toolSums(reader, ['tool'], kept)),
    mcp_servers: toolGroupsJson(
      (await toolSums(reader, ['mcp'], kept)).filter(({ keys: [server] }) => server !== null),
    ),
  }));
  return pending.catch((thrown: unknown) => ifNoFile(thrown, { tools: [], mcp_servers: [] }));
}

async function conversations({ ask }: RouteSources, request: Request) {
  const query = new URL(request.url).searchParams;
  const filter = toRowFilter(query);
  const limit = wholeOf(query, 'limit', { fallback: 200, min: 1, max: MAX_SESSIONS });
  const { sessionReports } = await import('../../stages/ledger/range-report.ts');
  const found = await ask((reader) => sessionReports(reader, filter, limit)).catch(
    (thrown: unknown) => ifNoFile(thrown, []),
  );
  return { conversations: found.map(sessionReportJson) };
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns what the ledger and the traces have on one request. Throws `not_found` if neither has
 * anything.
 */
async function oneRequest({ ask, services, generations }: RouteSources, id: string) {
  if (!ID.test(id)) throw notFound('No such request was recorded');
  const row = await ask((reader, queries) => queries.rowWithId(reader, id)).catch(
    (thrown: unknown) => ifNoFile(thrown, undefined),
  );
  const kept = services.traces.get(id);
  if (row === undefined && kept === undefined) throw notFound('No such request was recorded');
  const { providers, prices } = generations.current;
  return {
    request: row === undefined ? null : requestJson(row),
    trace: kept ?? null,
    cost_units: row === undefined ? [] : costUnits(row, providers.get(row.provider ?? ''), prices),
  };
}

/** Returns `none` before the first request, when there is no file yet. */
function ifNoFile<T>(thrown: unknown, none: T): T {
  if (thrown instanceof SvcError && thrown.kind === 'not_found') return none;
  throw thrown;
}
