/**
 * `/dashboard`: the page, its files, what it reads, and what it is sent as it happens. Every path
 * below is the page too, which shows the view that the path names.
 */
import { SvcError } from '../../engine/index.ts';
import type { LedgerReader } from '../../stages/ledger/database.ts';
import type { RowFilter } from '../../stages/ledger/queries.ts';
import { notFound } from '../../stages/model/errors.ts';
import { requestJson } from '../../stages/ledger/report.ts';
import { createPageAssets } from '../dashboard/assets.ts';
import type { Feed } from '../dashboard/feed.ts';
import { toRowFilter, wholeOf } from '../dashboard/filter.ts';
import { ASSET_PATHS, ICON, PAGE_HEADERS, SHELL } from '../dashboard/shell.ts';
import type { LedgerQuestions } from '../ledger-questions.ts';
import type { Route } from '../router.ts';

export interface DashboardRouteOptions {
  readonly feed: Feed;
  /** Asks the ledger's file once the newest requests are in it. */
  readonly ask: LedgerQuestions['ask'];
}

/** `/dashboard/api/requests`. */
export interface RequestsAnswer {
  /** Newest first. */
  readonly requests: readonly ReturnType<typeof requestJson>[];
  /** False where older ones were left out. */
  readonly complete: boolean;
}

const MOST_REQUESTS = 10_000;

export function dashboardRoutes(options: DashboardRouteOptions): Route[] {
  const assets = createPageAssets();
  const page = (body: string | Uint8Array, type: string) =>
    new Response(typeof body === 'string' ? body : new Uint8Array(body), {
      headers: { ...PAGE_HEADERS, 'Content-Type': type },
    });
  const shell: Omit<Route, 'path'> = {
    method: 'GET',
    audience: 'everybody',
    handle: () => page(SHELL, 'text/html; charset=utf-8'),
  };
  return [
    { ...shell, path: '/dashboard' },
    {
      method: 'GET',
      path: ASSET_PATHS.script,
      audience: 'everybody',
      handle: async () => page((await assets()).script, 'text/javascript; charset=utf-8'),
    },
    {
      method: 'GET',
      path: ASSET_PATHS.style,
      audience: 'everybody',
      handle: async () => page((await assets()).style, 'text/css; charset=utf-8'),
    },
    {
      method: 'GET',
      path: ASSET_PATHS.icon,
      audience: 'everybody',
      handle: () => page(ICON, 'image/svg+xml'),
    },
    {
      method: 'GET',
      path: '/dashboard/events',
      handle: () =>
        new Response(options.feed.open(), {
          headers: {
            'Content-Type': 'text/event-stream; charset=utf-8',
            'Cache-Control': 'no-store',
          },
        }),
    },
    {
      method: 'GET',
      path: '/dashboard/api/requests',
      handle: async (request) => Response.json(await requests(options, request)),
    },
    // Last, for it matches what the others do.
    {
      ...shell,
      path: '/dashboard/:path*',
      handle(request, context) {
        if (context.params['path']?.startsWith('api/') === true) throw notFound();
        return shell.handle(request, context);
      },
    },
  ];
}

async function requests({ ask }: DashboardRouteOptions, request: Request): Promise<RequestsAnswer> {
  const query = new URL(request.url).searchParams;
  const filter: RowFilter = toRowFilter(query);
  const limit = wholeOf(query, 'limit', 200, MOST_REQUESTS);
  const rows = await ask((reader: LedgerReader, queries) =>
    queries.newestRows(reader, filter, limit + 1),
  ).catch(noneIfNoFile);
  return { requests: rows.slice(0, limit).map(requestJson), complete: rows.length <= limit };
}

/** Before the first request there is no file. */
function noneIfNoFile(thrown: unknown): [] {
  if (thrown instanceof SvcError && thrown.kind === 'not_found') return [];
  throw thrown;
}
