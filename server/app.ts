/**
 * The HTTP side of the proxy: gate, limits, then either one of our own paths or a run through the
 * graph. Both listeners call `handle`; `fetch` serves our own paths without a socket.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createCanceller, toSvcError } from '../engine/index.ts';
import type { SvcError } from '../engine/index.ts';
import { noSuchPath, resolveEndpoint } from '../stages/dialect/endpoints.ts';
import type { Caller as KeyCaller } from '../stages/model/caller.ts';
import type { Endpoint } from '../stages/model/endpoint.ts';
import { namedProject } from '../stages/model/project.ts';
import {
  methodNotAllowed,
  notFound,
  rateLimited,
  shuttingDown,
  unknownExpectation,
} from '../stages/model/errors.ts';
import { errorBody, errorHeaders, errorStatus } from './http/error-response.ts';
import { refusedRow } from './run/refused-row.ts';
import { admittedHead } from './gate/admitted-head.ts';
import type { Admission } from './gate/gate.ts';
import { originForm, pathOf } from './gate/target.ts';
import { isGuarded } from './generation/generation.ts';
import type { Generations } from './generation/generation.ts';
import { PAGE_HEADERS, SHELL } from './dashboard/shell.ts';
import { servedRequest } from './forward-proxy/intercepted-hosts.ts';
import type { ServedKinds, ServedRequest } from './forward-proxy/intercepted-hosts.ts';
import { endEarly } from './http/hang-up.ts';
import { rateLimitHeaders } from './http/limit.ts';
import type { RateDecision, RateLimiter } from './http/limit.ts';
import { readOwnBody, toOwnRequest } from './http/own-request.ts';
import { proxy } from './proxy.ts';
import type { ProxyCall } from './proxy.ts';
import { allowedMethods, checkAudience } from './http/router.ts';
import type { Match, Route, RouteContext, Router } from './http/router.ts';
import { Running } from './run/running.ts';
import { sendResponse } from './http/send-response.ts';
import type { ServerServices } from './services.ts';

export interface AppOptions {
  readonly generations: Generations;
  readonly services: ServerServices;
  readonly router: Router;
  /** Generates request ids, matching `^[A-Za-z0-9_-]{1,64}$`. */
  readonly newId: () => string;
  /**
   * Passes a request of an intercepted connection to its host; `failed` is called if no response
   * begins.
   */
  readonly pass: (
    request: IncomingMessage,
    response: ServerResponse,
    host: string,
    failed: (error: Error) => void,
  ) => void;
}

/** The caller of one of our own paths. */
type Caller = Omit<RouteContext, 'params'>;

/** An admitted request. */
interface AdmittedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly admission: Admission;
  /** Headers for its response. */
  readonly extraHeaders: readonly string[];
  /** How the graph serves it, if it came through a connection opened for a provider's host. */
  readonly served: ServedRequest | undefined;
}

/**
 * A key or a link has a few dozen bytes; an unauthenticated client cannot make us store and parse
 * more.
 */
const MAX_PUBLIC_BYTES = 4096;
/** For a host that a reload has removed from the configuration. */
const NO_KINDS: ServedKinds = new Map();
/** Paths that clients request with HEAD to check that a server is there. */
const PROBED: ReadonlySet<string> = new Set(['/', '/api/hello']);
/** The methods that any of our paths supports. */
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'];

/** Handles HTTP requests: our own paths, and requests to providers. */
export class App {
  /** `svc pause|resume`: while paused, every request is forwarded unchanged. */
  paused = false;
  /** Cancellers of the proxied requests in progress. */
  readonly running = new Running();
  #options: AppOptions;
  #draining = false;

  constructor(options: AppOptions) {
    this.#options = options;
  }

  /** The paths that it serves itself. */
  get routes(): readonly Route[] {
    return this.#options.router.routes;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** From now on new requests are answered with 503. */
  drain(): void {
    this.#draining = true;
  }

  /** Handles one HTTP request. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const requestId = this.#options.newId();
    try {
      this.#admit(request, response, requestId);
    } catch (thrown) {
      this.#fail(request, response, toSvcError(thrown), requestId);
    }
  }

  #admit(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const { gate, cors, intercepted } = this.#options.generations.current;
    const host = this.#options.services.intercepted.hostOf(request.socket);
    const served =
      host === undefined
        ? undefined
        : servedRequest(
            intercepted.get(host) ?? NO_KINDS,
            request.method ?? 'GET',
            request.url ?? '/',
          );
    const isPassing = host !== undefined && served === undefined;
    const admission = gate(request, isPassing ? 'pass' : 'request');
    if (admission.verdict === 'refused') {
      if (admission.error.kind === 'unauthorized' && asksForPage(request)) {
        this.#askForKey(request, response, requestId);
        return;
      }
      this.#fail(request, response, admission.error, requestId, admission.close);
      return;
    }
    if (isPassing) {
      this.#options.pass(request, response, host, (error) => {
        this.#fail(request, response, toSvcError(error), requestId, true);
      });
      return;
    }
    const extraHeaders = cors.headers(request.headers.origin);
    if (request.method === 'OPTIONS') return this.#preflight(request, response, requestId);
    const decision = this.#takeOne(request, admission.verdict);
    const admitted = { request, response, requestId, admission, extraHeaders, served };
    if (decision instanceof Promise) void this.#proceedLater(admitted, decision);
    else this.#proceed(admitted, decision);
  }

  /** Continues once the counts of other proxies are known. */
  async #proceedLater(
    admitted: AdmittedRequest,
    decision: Promise<RateDecision | undefined>,
  ): Promise<void> {
    const { request, response, requestId, admission } = admitted;
    try {
      const decided = await decision;
      if (!request.socket.destroyed) this.#proceed(admitted, decided);
      else if (admission.verdict !== 'public' && this.#isProxied(request))
        this.#record(request, undefined, requestId, admission.caller);
    } catch (thrown) {
      this.#fail(request, response, toSvcError(thrown), requestId);
    }
  }

  #proceed(admitted: AdmittedRequest, decision: RateDecision | undefined): void {
    const { generations, services } = this.#options;
    const { request, response, requestId, admission, extraHeaders, served: opened } = admitted;
    const { verdict } = admission;
    if (decision?.isAllowed === false) {
      for (const [name, value] of pairs(rateLimitHeaders(decision)))
        response.setHeader(name, value);
      const error = rateLimited(decision.retryAfterS);
      this.#fail(request, response, error, requestId);
      if (verdict !== 'public' && (opened !== undefined || this.#isProxied(request)))
        this.#record(request, error, requestId, admission.caller);
      return;
    }
    const { expect } = request.headers;
    if (expect !== undefined && !/^100-continue$/i.test(expect)) throw unknownExpectation();
    const target = opened?.target ?? originForm(request.url ?? '/');
    const endpoint = opened?.endpoint ?? this.#endpointOf(request, target);
    if (endpoint === undefined) {
      void this.#serveOwn(request, response, target, {
        requestId,
        verdict,
        isStillAdmitted: () => generations.current.gate(request).verdict === verdict,
      });
    } else if (verdict === 'public') {
      this.#fail(request, response, notFound(), requestId);
    } else if (this.#draining) {
      const error = shuttingDown();
      this.#fail(request, response, error, requestId, true);
      this.#record(request, error, requestId, admission.caller);
    } else {
      const controller = createCanceller();
      const generation = generations.current;
      const { paused } = this;
      const served = { headers: request.rawHeaders, target, endpoint };
      const head = admittedHead(served, admission, isGuarded(generation));
      // Listed field by field: an object made with a spread stays in memory until a full garbage
      // collection.
      void this.#proxy({
        request,
        response,
        endpoint: head.endpoint,
        target: head.target,
        headers: head.headers,
        caller: admission.caller,
        requestId,
        generation,
        services,
        extraHeaders,
        paused,
        controller,
      });
    }
  }

  /** A browser without a key gets the empty page, which asks for one, with status 401. */
  #askForKey(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    response.writeHead(401, {
      ...PAGE_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-ID': requestId,
    });
    response.end(SHELL);
    request.resume();
  }

  /**
   * Returns the rate decision for this request's source; undefined if it is not counted. A liveness
   * probe costs nothing, and neither a probe nor a page that may only read public paths may use up
   * the quota of the local user.
   */
  #takeOne(
    request: IncomingMessage,
    verdict: RouteContext['verdict'],
  ): ReturnType<RateLimiter['takeTogether']> {
    const path = pathOf(request.url ?? '/');
    // An open dashboard must not use up the quota of agents on the same machine.
    if (verdict === 'local' && path.startsWith('/dashboard')) return undefined;
    if (path === '/health' || (request.method === 'HEAD' && PROBED.has(path))) return undefined;
    const address = request.socket.remoteAddress ?? '';
    return this.#options.services.limiter.takeTogether(
      verdict === 'public' ? `public ${address}` : address,
    );
  }

  /** True for a path that would have been forwarded to a provider. */
  #isProxied(request: IncomingMessage): boolean {
    try {
      return this.#endpointOf(request, originForm(request.url ?? '/')) !== undefined;
    } catch {
      return false;
    }
  }

  /**
   * Records an admitted request that was rejected before its run, or cancelled by its client if
   * there is no error. A request refused by the gate leaves no row.
   */
  #record(
    request: IncomingMessage,
    error: SvcError | undefined,
    requestId: string,
    caller: KeyCaller | undefined,
  ): void {
    const { services } = this.#options;
    const { node } = services;
    const endpoint = pathOf(originForm(request.url ?? '/'));
    const startedMs = services.clock.wallMs();
    const keyLabel = caller?.label ?? null;
    const project = namedProject({ headers: request.rawHeaders, caller });
    services.ledger.record(
      refusedRow({ id: requestId, startedMs, endpoint, node, keyLabel, project }, error),
      error?.message,
    );
  }

  #endpointOf(request: IncomingMessage, target: string): Endpoint | undefined {
    const found = resolveEndpoint(request.method ?? 'GET', target, request.rawHeaders);
    if (found !== undefined && 'allow' in found)
      throw methodNotAllowed(allowedMethods(found.allow));
    // The response would contain the credential that we add.
    if (request.method === 'TRACE')
      throw methodNotAllowed(this.#options.router.methods(pathOf(target)) ?? METHODS);
    if (found === undefined) return undefined;
    // A probe asks whether svc is there, so we answer it ourselves.
    return found.operation === 'probe' ? undefined : found;
  }

  async #proxy(call: ProxyCall): Promise<void> {
    const slot = this.running.add(call.controller);
    try {
      await proxy(call);
    } catch (thrown) {
      this.#fail(call.request, call.response, toSvcError(thrown), call.requestId);
    } finally {
      this.running.remove(slot);
    }
  }

  #preflight(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const { cors } = this.#options.generations.current;
    const field = (name: string) => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    const headers = cors.preflight({
      origin: request.headers.origin,
      requestMethod: field('access-control-request-method'),
      requestHeaders: field('access-control-request-headers'),
      privateNetwork: field('access-control-request-private-network'),
    });
    response.writeHead(204, [...headers, 'X-Request-ID', requestId]);
    response.end();
    request.resume();
  }

  async #serveOwn(
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    caller: Caller,
  ): Promise<void> {
    const { requestId } = caller;
    try {
      const { maxRequestBytes } = this.#options.generations.current.config.limits;
      const { inFlight } = this.#options.services;
      const maxBytes = caller.verdict === 'public' ? MAX_PUBLIC_BYTES : maxRequestBytes;
      const ownBody = await readOwnBody(request, response, maxBytes, inFlight);
      const match = this.#routeOf(request.method ?? 'GET', pathOf(target), caller.verdict);
      const found = await this.#handleOwn(match, toOwnRequest(request, ownBody), caller);
      await sendResponse(request, response, found, [
        'X-Request-ID',
        requestId,
        'X-Content-Type-Options',
        'nosniff',
        ...this.#options.generations.current.cors.headers(request.headers.origin),
      ]);
    } catch (thrown) {
      this.#fail(request, response, toSvcError(thrown), requestId);
    }
  }

  #routeOf(method: string, path: string, verdict: RouteContext['verdict']): Match {
    const match = this.#options.router.match(method, path);
    if (match === undefined) throw noSuchPath(path);
    checkAudience(match.route, verdict);
    return match;
  }

  async #handleOwn({ route, params }: Match, request: Request, caller: Caller): Promise<Response> {
    this.#options.services.deferredWork.flush();
    return route.handle(request, { ...caller, params });
  }

  /** Serves one of our own paths, for a caller on this machine or with the given verdict. */
  async fetch(request: Request, verdict: RouteContext['verdict'] = 'local'): Promise<Response> {
    const requestId = this.#options.newId();
    try {
      const match = this.#routeOf(request.method, new URL(request.url).pathname, verdict);
      return await this.#handleOwn(match, request, {
        requestId,
        verdict,
        isStillAdmitted: () => true,
      });
    } catch (thrown) {
      const error = toSvcError(thrown);
      return new Response(new Uint8Array(errorBody(error, requestId)), {
        status: errorStatus(error),
        headers: { 'Content-Type': 'application/json; charset=utf-8' },
      });
    }
  }

  #fail(
    request: IncomingMessage,
    response: ServerResponse,
    error: SvcError,
    requestId: string,
    close = false,
  ): void {
    if (error.kind === 'internal') {
      this.#options.services.log.error(error.message, { requestId, cause: error.cause });
    }
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const body = errorBody(error, requestId);
    const headers = errorHeaders(error, requestId, body.length, close || !request.complete);
    // A page that may read responses may also read why it got none.
    const { cors } = this.#options.generations.current;
    for (const [name, value] of pairs(cors.headers(request.headers.origin))) headers[name] = value;
    response.writeHead(errorStatus(error), headers);
    endEarly(response, request.method === 'HEAD' ? undefined : body);
  }
}

/** True if a browser requests one of the dashboard's views. */
function asksForPage({ method, url = '/', headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.accept?.includes('text/html') !== true) return false;
  const path = pathOf(originForm(url));
  return /^\/dashboard(?:\/(?!api\/|events$).*)?$/.test(path);
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i]!, flat[i + 1]!];
}
