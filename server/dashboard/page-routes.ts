/** The routes of the page and its files, for a proxy on both ports, or for `svc monitor`. */
import { notFound } from '../../stages/model/errors.ts';
import { get } from '../http/router.ts';
import type { Route, RouteHandler } from '../http/router.ts';
import { createPageAssets } from './assets.ts';
import { ASSET_PATHS, ICON, PAGE_HEADERS, SHELL } from './shell.ts';

/** The view that a monitor serves as its whole page, at `/`. */
const MONITOR_PATH = '/dashboard/live';

/** Returns public routes; the last of them matches every path of the dashboard. */
export function pageRoutes(): Route[] {
  const assets = createPageAssets();
  const page = (body: string | Uint8Array, type: string) =>
    new Response(typeof body === 'string' ? body : new Uint8Array(body), {
      headers: { ...PAGE_HEADERS, 'Content-Type': type },
    });
  const shell = () => page(SHELL, 'text/html; charset=utf-8');
  const routes: readonly (readonly [path: string, handle: RouteHandler])[] = [
    ['/dashboard', shell],
    ['/dashboard/login', shell],
    ['/dashboard/logout', shell],
    [
      ASSET_PATHS.script,
      async () => page((await assets()).script, 'text/javascript; charset=utf-8'),
    ],
    [ASSET_PATHS.style, async () => page((await assets()).style, 'text/css; charset=utf-8')],
    [ASSET_PATHS.icon, () => page(ICON, 'image/svg+xml')],
    [
      '/dashboard/:path*',
      (_request, { params }) => {
        if (params['path']?.startsWith('api/') === true) throw notFound();
        return shell();
      },
    ],
  ];
  return routes.map(([path, handle]) => get(path, handle, 'everybody'));
}

/**
 * Returns the target of a request to a monitor's port, where `/` is the monitor unless a program
 * asks for JSON.
 */
export function monitorTarget(target: string, accept: string | undefined): string {
  const isRoot = target === '/' || target.startsWith('/?');
  return isRoot && accept?.includes('json') !== true ? MONITOR_PATH + target.slice(1) : target;
}
