/** `/mcp`: the tools of `svc mcp` over streamable HTTP, after the gate. */
import { SvcError } from '../../engine/index.ts';
import type { ErrorKind } from '../../engine/error.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import type { Route, RouteContext } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

type Answer = (request: Request) => Promise<Response>;

const REFUSALS: ReadonlyMap<number, ErrorKind> = new Map([
  [400, 'bad_request'],
  [403, 'forbidden'],
  [404, 'not_found'],
]);

export function mcpRoutes({ app, version, generations }: RouteSources): Route[] {
  const answers = new Map<RouteContext['verdict'], Promise<Answer>>();
  /** The first request loads the SDK. */
  async function load(verdict: RouteContext['verdict']): Promise<Answer> {
    const { createMcpOverHttp } = await import('../mcp/http.ts');
    return createMcpOverHttp({
      version,
      home: generations.current.config.home,
      isThisMachine: verdict === 'local',
      read: async (path) =>
        jsonOf(await app().fetch(new Request(`http://localhost${path}`), verdict)),
    });
  }
  return [
    {
      method: 'POST',
      path: '/mcp',
      async handle(request, { verdict }) {
        let answer = answers.get(verdict);
        if (answer === undefined) answers.set(verdict, (answer = load(verdict)));
        return (await answer)(request);
      },
    },
  ];
}

/** Returns the JSON of a response of our own. Throws its error if it is one. */
async function jsonOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  if (response.ok) return body;
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const { message = 'svc refused to answer' } = error;
  throw new SvcError(REFUSALS.get(response.status) ?? 'internal', String(message));
}
