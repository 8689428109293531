/**
 * The monitor's own server, used if no proxy has its port: serves the dashboard's page, and passes
 * reads to the proxy of the home folder through its control socket. It listens on loopback, after
 * the same gate as a proxy.
 */
import { createServer, request as ask } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SvcError, isSvcError, toSvcError } from '../../engine/error.ts';
import { controlPath } from '../../server/control/control.ts';
import { monitorTarget, pageRoutes } from '../../server/dashboard/page-routes.ts';
import { createGate } from '../../server/gate/gate.ts';
import { originForm, pathOf } from '../../server/gate/target.ts';
import { errorBody, errorHeaders, errorStatus } from '../../server/http/error-response.ts';
import { checkAudience, createRouter, get } from '../../server/http/router.ts';
import type { RouteContext } from '../../server/http/router.ts';
import { sendResponse } from '../../server/http/send-response.ts';
import { notFound } from '../../stages/model/errors.ts';
import { connectionError } from '../remote.ts';

const HOST = '127.0.0.1';
/** The proxy's paths that the page reads. */
const PROXY_PATHS = [
  '/dashboard/events',
  '/dashboard/api/:path*',
  '/v1/svc/lost/:id',
  '/v1/svc/blocks/:id',
];

/** Listens on loopback at `port`, 0 for a free one. Throws `conflict` if it is taken. */
export async function openMonitor(home: string, port: number, newId: () => string) {
  const pages = createRouter(pageRoutes());
  const reads = createRouter(PROXY_PATHS.map((path) => get(path, () => new Response())));
  const gate = createGate({
    boundHost: HOST,
    ports: () => [(server.address() as AddressInfo | null)?.port ?? 0],
    allowedHosts: [],
    allowedOrigins: [],
    trustBrowserOrigins: false,
    requireKey: false,
    keys: { check: () => 'unknown' },
  });

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
  ): Promise<void> {
    const target = originForm(monitorTarget(request.url ?? '/', request.headers.accept));
    const admission = gate(Object.assign(request, { url: target }));
    if (admission.verdict === 'refused') throw admission.error;
    const path = pathOf(target);
    const read = reads.match(request.method ?? 'GET', path);
    if (read === undefined) return servePage(pages, request, response, admission.verdict, id);
    checkAudience({ ...read.route, audience: 'this-machine' }, admission.verdict);
    return passOn(home, target, response);
  }

  const server = createServer((request, response) => {
    const id = newId();
    answer(request, response, id).catch((thrown: unknown) => {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const error = toSvcError(thrown);
      const body = errorBody(error, id);
      response.writeHead(errorStatus(error), errorHeaders(error, id, body.length, true));
      response.end(body);
    });
  });
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(port, cause)));
    server.listen(port, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}/`,
    /** Closes every connection and frees the port. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function servePage(
  routes: ReturnType<typeof createRouter>,
  request: IncomingMessage,
  response: ServerResponse,
  verdict: RouteContext['verdict'],
  requestId: string,
): Promise<void> {
  const target = request.url ?? '/';
  const match = routes.match(request.method ?? 'GET', pathOf(target));
  if (match === undefined) throw notFound();
  checkAudience(match.route, verdict);
  const { route, params } = match;
  const found = await route.handle(new Request(`http://localhost${target}`), {
    requestId,
    verdict,
    isStillAdmitted: () => true,
    params,
  });
  await sendResponse(request, response, found, ['X-Content-Type-Options', 'nosniff']);
}

/** Passes on the proxy's response. Rejects as `readOwn` does. */
function passOn(home: string, path: string, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = ask({ socketPath: controlPath(home), path, agent: false }, (found) => {
      response.writeHead(found.statusCode ?? 502, {
        'Content-Type': found.headers['content-type'] ?? 'application/json',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      });
      found.pipe(response);
      found.once('close', () => {
        response.end();
        resolve();
      });
    });
    call.once('error', (cause) => {
      const error = connectionError(cause);
      const words = isSvcError(error) && error.cure !== undefined ? `. ${error.cure}` : '';
      reject(new SvcError(error.kind, `${error.message}${words}`, { cause }));
    });
    response.once('close', () => call.destroy());
    call.end();
  });
}

function cannotListen(port: number, cause: NodeJS.ErrnoException): SvcError {
  const isTaken = cause.code === 'EADDRINUSE';
  return new SvcError(
    isTaken ? 'conflict' : 'config',
    isTaken ? `Port ${port} is taken` : `Cannot listen on ${HOST}:${port}: ${cause.message}`,
    { cause, cure: 'Choose another one with --port; 0 picks a free one.' },
  );
}
