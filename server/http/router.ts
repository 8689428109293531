/**
 * The paths that the proxy answers itself. What it forwards is decided by
 * `stages/dialect/endpoints.ts`; everything that neither knows is 404.
 */
import { authMissing, forbidden, methodNotAllowed } from '../../stages/model/errors.ts';

/** What a route gets to know beside the request. */
export interface RouteContext {
  readonly requestId: string;
  /** How the gate let the request in; `public` must learn nothing about the machine. */
  readonly verdict: 'local' | 'keyed' | 'public';
  /** Whether the gate would let it in as it did: asked again by answers that do not end by themselves. */
  readonly isStillAdmitted: () => boolean;
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
}

export type RouteHandler = (
  request: Request,
  context: RouteContext,
) => Response | Promise<Response>;

/** Whom a route answers: everybody; callers on this machine and holders of a key; or this machine only. */
export type Audience = 'everybody' | 'admitted' | 'this-machine';

/** One path of our own. A `:name` segment matches one segment of anything, `:name*` at the end all that follows, nothing too. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Default: `admitted`. */
  readonly audience?: Audience;
  readonly handle: RouteHandler;
}

/** A GET of `path`. */
export function get(path: string, handle: RouteHandler, audience: Audience = 'admitted'): Route {
  return { method: 'GET', path, audience, handle };
}

/** A GET of `path` that answers what `make` gives, as JSON. */
export function getJson(
  path: string,
  make: (request: Request, context: RouteContext) => unknown,
  audience?: Audience,
): Route {
  return get(
    path,
    async (request, context) => Response.json(await make(request, context)),
    audience,
  );
}

/** A route found for a path. */
export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = ReturnType<typeof createRouter>;

const NO_PARAMS = Object.freeze({});

/** A path that a URL parser would fold into another: it is none of ours, whatever it begins with. */
function climbs(path: string): boolean {
  const plain = path.replaceAll(/%2e/gi, '.').replaceAll(/%2f|%5c|\\/gi, '/');
  return plain.split('/').some((segment) => segment === '.' || segment === '..');
}

function toPattern(path: string): { pattern: RegExp; names: string[] } {
  const names: string[] = [];
  const pattern = path.replaceAll(/:(\w+)(\*?)/g, (_whole, name: string, star: string) => {
    names.push(name);
    return star === '' ? '([^/]+)' : '(.*)';
  });
  return { pattern: new RegExp(`^${pattern}$`), names };
}

/** The methods of a path, `HEAD` and `OPTIONS` with them. */
export function allowedMethods(methods: readonly string[]): string[] {
  const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
  return [...methods, ...implied.filter((method) => !methods.includes(method))];
}

/**
 * Throws where a caller that the gate let in as `verdict` is not of the route's audience. The gate
 * judges by path before this; a path that it read otherwise than the router opens nothing.
 */
export function checkAudience(
  { audience = 'admitted' }: Route,
  verdict: RouteContext['verdict'],
): void {
  if (verdict === 'local' || audience === 'everybody') return;
  if (verdict === 'public') throw authMissing();
  if (audience === 'this-machine')
    throw forbidden('This path is for callers on the same machine only');
}

export function createRouter(routes: readonly Route[]) {
  const exact = new Map<string, Route[]>();
  const patterns: { route: Route; pattern: RegExp; names: string[] }[] = [];
  for (const route of routes) {
    if (route.path.includes(':')) patterns.push({ route, ...toPattern(route.path) });
    else exact.set(route.path, [...(exact.get(route.path) ?? []), route]);
  }

  function candidates(path: string): Match[] {
    const fixed = exact.get(path);
    if (fixed !== undefined) return fixed.map((route) => ({ route, params: NO_PARAMS }));
    if (climbs(path)) return [];
    return patterns.flatMap(({ route, pattern, names }) => {
      const found = pattern.exec(path);
      if (found === null) return [];
      const params = Object.fromEntries(names.map((name, i) => [name, found[i + 1] ?? '']));
      return [{ route, params }];
    });
  }

  const methodsOf = (found: readonly Match[]): readonly string[] =>
    allowedMethods([...new Set(found.map(({ route }) => route.method))]);

  return {
    routes,
    /** What a path of ours answers, `HEAD` and `OPTIONS` with it; undefined for a path that is not ours. */
    methods(path: string): readonly string[] | undefined {
      const found = candidates(path);
      return found.length === 0 ? undefined : methodsOf(found);
    },
    /** The route of a path as it was spelled; undefined for a path that is not ours. Throws `method_not_allowed`. `HEAD` counts as `GET`. */
    match(method: string, path: string): Match | undefined {
      const found = candidates(path);
      if (found.length === 0) return undefined;
      const wanted = method === 'HEAD' ? 'GET' : method;
      const hit = found.find(({ route }) => route.method === wanted);
      if (hit === undefined) throw methodNotAllowed(methodsOf(found));
      return hit;
    },
  };
}
