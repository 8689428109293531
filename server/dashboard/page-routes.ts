/** The page and its files, for whoever serves them: a proxy on both ports, or `svc monitor` beside one. */
import { notFound } from '../../stages/model/errors.ts';
import type { Route } from '../http/router.ts';
import { createPageAssets } from './assets.ts';
import { ASSET_PATHS, ICON, PAGE_HEADERS, SHELL } from './shell.ts';

/** The view that is the whole page of a monitor, which has it at `/`. */
const MONITOR_PATH = '/dashboard/live';

/** Routes that answer everybody; the last of them matches every path of the dashboard. */
export function pageRoutes(): Route[] {
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
    { ...shell, path: '/dashboard/login' },
    { ...shell, path: '/dashboard/logout' },
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
      ...shell,
      path: '/dashboard/:path*',
      handle(request, context) {
        if (context.params['path']?.startsWith('api/') === true) throw notFound();
        return shell.handle(request, context);
      },
    },
  ];
}

/** What a monitor's port is asked for, where `/` is the monitor unless a program asks for JSON. */
export function monitorTarget(target: string, accept: string | undefined): string {
  const isRoot = target === '/' || target.startsWith('/?');
  return isRoot && accept?.includes('json') !== true ? MONITOR_PATH + target.slice(1) : target;
}
