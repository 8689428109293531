/**
 * The API description as an OpenAPI 3.0 document, built from the operations and the error table.
 */
import { STATUS_CODES } from 'node:http';
import { errorTable } from '../http/error-response.ts';
import { componentSchemas } from './components.ts';
import { forwardedOperations } from './forwarded-operations.ts';
import { ownOperations } from './own-operations.ts';
import type { Operation } from './operation.ts';
import { oneOf, ref, text } from './schema.ts';

export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** Error responses that any path may return. */
const EVERYWHERE = [401, 403, 405, 429, 431, 500, 503] as const;

const HEADERS = {
  'X-Request-ID': { description: 'The id of this request in log and trace', schema: text },
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } },
  'X-RateLimit-Limit': { description: 'Requests in the window', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'When the window resets, in epoch seconds',
    schema: { type: 'integer' },
  },
  Allow: { description: 'The methods that the path supports', schema: text },
  Upgrade: { description: 'The protocol that the path supports', schema: text },
  'X-Svc-Request-ID': {
    description: 'The same id, even if `X-Request-ID` is the provider’s own',
    schema: text,
  },
  'X-Svc-Cache': {
    description: '`hit` if the response came from the cache',
    schema: oneOf('hit'),
  },
} as const;

const headerRefs = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const REQUEST_ID = headerRefs('X-Request-ID');
const PROXIED = headerRefs('X-Request-ID', 'X-Svc-Request-ID', 'X-Svc-Cache');
const METHODS = headerRefs('X-Request-ID', 'Allow');
const PROTOCOLS = headerRefs('X-Request-ID', 'Upgrade');
const LIMITED = headerRefs(
  'X-Request-ID',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
);

function errorHeaders(status: number) {
  if (status === 405) return METHODS;
  if (status === 426) return PROTOCOLS;
  return status === 429 || status === 503 ? LIMITED : REQUEST_ID;
}

/** Converts the router's `:name` to `{name}`; a verb may follow it. */
export function toOpenApiPath(path: string): string {
  return path.replaceAll(/:(id|request_id|model|page|path)\b\*?/g, '{$1}');
}

/** Returns the whole document. */
export function openApiDocument(version: string): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of [...ownOperations, ...forwardedOperations]) {
    const path = (paths[toOpenApiPath(operation.path)] ??= {});
    path[operation.method] = toOperation(operation);
  }
  return {
    openapi: '3.0.3',
    info: {
      title: 'svc',
      version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      description:
        'A local LLM proxy. Paths under `/v1` and `/v1beta` mirror those of the providers; any other path of theirs under `/v1/` is passed through unchanged.',
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Proxied', description: 'Requests forwarded to a provider' },
      { name: 'Look', description: 'What the proxy reports about itself' },
      { name: 'Vault', description: 'Your files as context' },
      { name: 'Control', description: 'Changes to the running proxy' },
    ],
    security: [{}, { proxyKey: [] }, { proxyToken: [] }],
    paths,
    components: {
      schemas: componentSchemas,
      headers: HEADERS,
      responses: errorResponses(),
      securitySchemes: {
        proxyKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Svc-Key',
          description: 'Required from other machines and from web pages',
        },
        proxyToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The same key, for clients with no other place for it',
        },
        providerKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        providerToken: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

function toOperation(operation: Operation) {
  const { path, method, summary, description, tag, parameters = [], request, response } = operation;
  const isProxied = tag === 'Proxied';
  return {
    operationId: `${method}${path.endsWith('/') && path !== '/' ? 'Slash' : ''}${path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_all, next: string) => next.toUpperCase())}`,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(isProxied && { security: [{ providerKey: [] }, { providerToken: [] }, {}] }),
    ...(operation.isPublic === true && { security: [{}] }),
    ...(parameters.length > 0 && {
      parameters: parameters.map((parameter) => ({
        ...parameter,
        ...(parameter.in === 'path' && { required: true }),
      })),
    }),
    ...(request !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: request } } },
    }),
    responses: {
      [path === '/ws' ? 101 : 200]: {
        description: path === '/ws' ? 'The connection is now a WebSocket' : 'As asked',
        headers: isProxied && path !== '/ws' ? PROXIED : REQUEST_ID,
        ...(response !== undefined && {
          content: Object.fromEntries(
            Object.entries(response).map(([type, schema]) => [type, { schema }]),
          ),
        }),
      },
      ...errorRefs(operation),
    },
  };
}

function errorRefs({ errors = [] }: Operation) {
  const statuses = [...new Set([...EVERYWHERE, ...errors])].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  );
}

/** Returns one response per status of the error table, with its possible types. */
function errorResponses() {
  const typesOf = new Map<number, Set<string>>();
  for (const { status, type } of Object.values(errorTable))
    typesOf.set(status, (typesOf.get(status) ?? new Set()).add(type));
  return Object.fromEntries(
    [...typesOf].map(([status, types]) => [
      `Error${status}`,
      {
        description: `${STATUS_CODES[status] ?? 'Error'}: ${[...types].join(', ')}`,
        headers: errorHeaders(status),
        content: { 'application/json': { schema: ref('Error') } },
      },
    ]),
  );
}
