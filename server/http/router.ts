/**
 * The paths that the proxy answers itself. Forwarded paths are in `stages/dialect/endpoints.ts`; a
 * path known to neither is 404.
 */
import { authMissing, forbidden, methodNotAllowed } from '../../stages/model/errors.ts';

/** What a route handler receives besides the request. */
export interface RouteContext {
  readonly requestId: string;
  /** The gate's verdict; a `public` response must reveal nothing about the machine. */
  readonly verdict: 'local' | 'keyed' | 'public';
  /**
   * True if the gate would still admit the request in the same way; checked again by responses that
   * do not end by themselves.
   */
  readonly isStillAdmitted: () => boolean;
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
}

export type RouteHandler = (
  request: Request,
  context: RouteContext,
) => Response | Promise<Response>;

/**
 * Who may use a route: everybody; callers on this machine and holders of a key; or this machine
 * only.
 */
export type Audience = 'everybody' | 'admitted' | 'this-machine';

/**
 * One path of our own. A `:name` segment matches any one segment; `:name*` at the end matches the
 * rest of the path, which may be empty.
 */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Default: `admitted`. */
  readonly audience?: Audience;
  readonly handle: RouteHandler;
}

/** Defines a GET route for `path`. */
export function get(path: string, handle: RouteHandler, audience: Audience = 'admitted'): Route {
  return { method: 'GET', path, audience, handle };
}

/** Defines a GET route for `path` that returns the value of `make` as JSON. */
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

/** A route that matches a path, with its parameters. */
export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = ReturnType<typeof createRouter>;

const NO_PARAMS = Object.freeze({});

/** True for a path that a URL parser would normalize to another one: such a path is never ours. */
function hasDotSegments(path: string): boolean {
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

/** Returns the methods of a path, including the implied `HEAD` and `OPTIONS`. */
export function allowedMethods(methods: readonly string[]): string[] {
  const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
  return [...methods, ...implied.filter((method) => !methods.includes(method))];
}

/**
 * Throws if `verdict` is not enough for the route's audience. The gate has judged the path before;
 * this check holds even if the gate and the router read a path differently.
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
    if (hasDotSegments(path)) return [];
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
    /**
     * Returns the methods of one of our paths, including `HEAD` and `OPTIONS`; undefined for any
     * other path.
     */
    methods(path: string): readonly string[] | undefined {
      const found = candidates(path);
      return found.length === 0 ? undefined : methodsOf(found);
    },
    /**
     * Returns the route for a path as spelled; undefined if the path is not ours. `HEAD` counts as
     * `GET`. Throws `method_not_allowed`.
     */
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
