/**
 * `/dashboard/login` exchanges a key or a one-time link for a browser cookie; `/dashboard/logout`
 * ends the session.
 */
import { authMissing, invalidJson } from '../../stages/model/errors.ts';
import type { BrowserSessions } from '../auth/browser-sessions.ts';
import type { Route } from '../http/router.ts';

export function loginRoutes(sessions: BrowserSessions): Route[] {
  return [
    {
      method: 'POST',
      path: '/dashboard/login',
      audience: 'everybody',
      async handle(request) {
        const { key, link } = await bodyOf(request);
        const isSecure = request.headers.get('origin')?.startsWith('https://') === true;
        const cookie =
          link === undefined
            ? sessions.withKey(key ?? '', isSecure)
            : sessions.withLink(link, isSecure);
        if (cookie === undefined)
          throw authMissing(
            link === undefined
              ? 'this key is not valid'
              : 'this link was used before, or is older than five minutes',
          );
        const headers = { 'Set-Cookie': cookie, 'Cache-Control': 'no-store' };
        return Response.json({ status: 'ok' }, { headers });
      },
    },
    {
      method: 'POST',
      path: '/dashboard/logout',
      audience: 'everybody',
      handle(request) {
        const cookie = sessions.end(request.headers.get('cookie') ?? '');
        const headers = { 'Set-Cookie': cookie, 'Cache-Control': 'no-store' };
        return Response.json({ status: 'ok' }, { headers });
      },
    },
  ];
}

async function bodyOf(
  request: Request,
): Promise<{ readonly key: string | undefined; readonly link: string | undefined }> {
  let body: unknown;
  try {
    body = await request.json();
  } catch (cause) {
    throw invalidJson(cause);
  }
  const textOf = (name: string): string | undefined => {
    const value: unknown = (body as Record<string, unknown> | null)?.[name];
    return typeof value === 'string' ? value : undefined;
  };
  return { key: textOf('key'), link: textOf('link') };
}
