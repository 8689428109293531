/** What every path answers: the proxy's own ones, and those that it forwards. */
import { about, oneOf, ref, text, whole } from './schema.ts';
import type { Schema } from './schema.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly schema: Schema;
  readonly required?: boolean;
}

export interface Operation {
  /** As the router spells it: `:id` for a segment of anything. */
  readonly path: string;
  readonly method: 'get' | 'post' | 'head';
  readonly summary: string;
  readonly description?: string;
  readonly tag: 'Look' | 'Vault' | 'Control' | 'Proxied';
  readonly parameters?: readonly Parameter[];
  readonly request?: Schema;
  /** The answer that goes well, by media type; left out where it has no body. */
  readonly answer?: Readonly<Record<string, Schema>>;
  /** Statuses of error responses besides those that every path has. */
  readonly errors?: readonly number[];
  /** True for what anybody may ask; false needs `X-Svc-Key` from elsewhere than this machine. */
  readonly isPublic?: boolean;
}

const json = (schema: Schema) => ({ 'application/json': schema });
const html = { 'text/html': text };
const ID = about(text, 'Letters, digits, `_` and `-`, at most 64');

const queryText = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema: text,
});

/** Which requests the dashboard wants; what is left out does not matter. */
const requestFilters: readonly Parameter[] = [
  queryText('since', 'Requests from this ISO 8601 date or time on'),
  queryText('until', 'Requests before this ISO 8601 date or time'),
  queryText('model', 'Part of the model’s name, whatever its case'),
  queryText('provider', 'Name of the provider'),
  queryText('client', 'The agent, such as claude-code'),
  queryText('session', 'The client’s own session id'),
  {
    ...queryText('outcome', 'How the request ended'),
    schema: oneOf('ok', 'error', 'cancelled', 'partial'),
  },
  { ...queryText('failed', '1 for failed requests alone'), schema: oneOf('1') },
];

/** Paths that the proxy answers itself. */
export const ownOperations: readonly Operation[] = [
  {
    path: '/',
    method: 'get',
    summary: 'Name, version and the main paths',
    tag: 'Look',
    answer: json(ref('Root')),
    isPublic: true,
  },
  {
    path: '/api/hello',
    method: 'head',
    summary: 'An empty answer, for clients that check whether the proxy is up',
    tag: 'Look',
  },
  {
    path: '/health',
    method: 'get',
    summary: 'Health of the proxy, with the reasons where it is degraded',
    description: 'The answer is cached for a second.',
    tag: 'Look',
    answer: json(ref('Health')),
    isPublic: true,
  },
  {
    path: '/stats',
    method: 'get',
    summary: 'Requests, tokens and cost of the session, of today and by model',
    tag: 'Look',
    answer: json(ref('Stats')),
  },
  {
    path: '/stats/last',
    method: 'get',
    summary: 'What the newest request saved',
    tag: 'Look',
    answer: json({ oneOf: [ref('LastRequest'), ref('NoRequests')] }),
  },
  {
    path: '/stats/session',
    method: 'get',
    summary: 'What the session saved',
    tag: 'Look',
    answer: json(ref('SessionSummary')),
  },
  {
    path: '/recent',
    method: 'get',
    summary: 'The newest 50 requests, newest first',
    tag: 'Look',
    answer: json(ref('Recent')),
  },
  {
    path: '/savings',
    method: 'get',
    summary: 'What compression saved, by model and by day',
    tag: 'Look',
    parameters: [
      {
        name: 'since',
        in: 'query',
        description: 'Requests from this ISO 8601 date or time on, such as 2026-01-31',
        schema: text,
      },
    ],
    answer: json(ref('Savings')),
    errors: [400],
  },
  {
    path: '/cache-stats',
    method: 'get',
    summary: 'Hits of our caches and of the providers’ prompt caches',
    tag: 'Look',
    answer: json(ref('CacheStats')),
  },
  {
    path: '/metrics',
    method: 'get',
    summary: 'Counters and histograms for Prometheus',
    tag: 'Look',
    answer: { 'text/plain': text },
    errors: [404],
  },
  {
    path: '/metrics/dashboard',
    method: 'get',
    summary: 'Rates, latency, errors and sums of the last 24 hours',
    tag: 'Look',
    answer: json(ref('Dashboard')),
    errors: [404],
  },
  {
    path: '/dashboard',
    method: 'get',
    summary: 'The dashboard, a page that shows all of this as it happens',
    tag: 'Look',
    answer: html,
  },
  {
    path: '/dashboard/:path*',
    method: 'get',
    summary: 'The same page, opened at one of its views',
    description:
      'A document navigation from this machine gets it without a key: it holds no data. From elsewhere it comes with 401, and asks for the key.',
    tag: 'Look',
    parameters: [
      { name: 'path', in: 'path', description: 'The view, such as `requests`', schema: text },
    ],
    answer: html,
    errors: [404],
  },
  {
    path: '/dashboard/login',
    method: 'get',
    summary: 'The same page, where it asks for a key',
    tag: 'Look',
    answer: html,
    isPublic: true,
  },
  {
    path: '/dashboard/login',
    method: 'post',
    summary: 'Exchange a key for the cookie of a browser',
    description:
      'With `key`, a proxy key, or `link`, the token of a link of `svc dashboard --public`. The cookie reads the dashboard and nothing else, and ends with the key. 401 where it is not valid.',
    tag: 'Look',
    request: { type: 'object', properties: { key: text, link: text } },
    answer: json({ type: 'object', properties: { status: oneOf('ok') }, required: ['status'] }),
    errors: [400, 401, 413, 415],
    isPublic: true,
  },
  {
    path: '/dashboard/logout',
    method: 'get',
    summary: 'The same page, which has no such view',
    tag: 'Look',
    answer: html,
  },
  {
    path: '/dashboard/logout',
    method: 'post',
    summary: 'End the session of a browser',
    description:
      'The cookie that was sent is worth nothing from now on, and the browser forgets it. The same answer where none was sent.',
    tag: 'Look',
    answer: json({ type: 'object', properties: { status: oneOf('ok') }, required: ['status'] }),
    isPublic: true,
  },
  {
    path: '/dashboard/app.js',
    method: 'get',
    summary: 'The script of the dashboard',
    tag: 'Look',
    answer: { 'text/javascript': text },
    isPublic: true,
  },
  {
    path: '/dashboard/app.css',
    method: 'get',
    summary: 'The style of the dashboard',
    tag: 'Look',
    answer: { 'text/css': text },
    isPublic: true,
  },
  {
    path: '/dashboard/icon.svg',
    method: 'get',
    summary: 'The icon of the dashboard',
    tag: 'Look',
    answer: { 'image/svg+xml': text },
    isPublic: true,
  },
  {
    path: '/dashboard/events',
    method: 'get',
    summary: 'What happens, as server-sent events',
    description:
      'Events `state` (every two seconds at most), `rows` (finished requests, at most some twice a second) and, for readers on this machine, `log`. The stream goes on until the reader closes it; 503 where too many are open.',
    tag: 'Look',
    answer: { 'text/event-stream': text },
  },
  {
    path: '/dashboard/api/requests',
    method: 'get',
    summary: 'Finished requests from the ledger, newest first',
    tag: 'Look',
    parameters: [
      ...requestFilters,
      {
        name: 'limit',
        in: 'query',
        description: 'How many at most; 200',
        schema: { type: 'integer', minimum: 1, maximum: 10_000 },
      },
    ],
    answer: json(ref('DashboardRequests')),
    errors: [400],
  },
  {
    path: '/dashboard/api/report',
    method: 'get',
    summary: 'Sums, series, latency, groups and failures of a range of time',
    description: 'Steps of the series without requests are left out.',
    tag: 'Look',
    parameters: requestFilters,
    answer: json(ref('DashboardReport')),
    errors: [400],
  },
  {
    path: '/dashboard/api/conversations',
    method: 'get',
    summary: 'Conversations of clients that name their sessions, newest first',
    tag: 'Look',
    parameters: [
      ...requestFilters,
      {
        name: 'limit',
        in: 'query',
        description: 'How many at most; 200',
        schema: { type: 'integer', minimum: 1, maximum: 1000 },
      },
    ],
    answer: json(ref('DashboardConversations')),
    errors: [400],
  },
  {
    path: '/dashboard/api/request/:id',
    method: 'get',
    summary: 'One request: its row in the ledger, and its trace while that is kept',
    tag: 'Look',
    parameters: [{ name: 'id', in: 'path', description: 'Id of the request', schema: ID }],
    answer: json(ref('DashboardOneRequest')),
    errors: [404],
  },
  {
    path: '/trace/last',
    method: 'get',
    summary: 'The newest request, step by step',
    tag: 'Look',
    answer: json({ oneOf: [ref('Trace'), ref('NoRequests')] }),
  },
  {
    path: '/trace/:id',
    method: 'get',
    summary: 'One request, step by step, with every attempt at a provider',
    tag: 'Look',
    parameters: [{ name: 'id', in: 'path', description: 'Id of the request', schema: ID }],
    answer: json(ref('Trace')),
    errors: [404],
  },
  {
    path: '/traces',
    method: 'get',
    summary: 'The newest 200 requests, step by step',
    tag: 'Look',
    answer: json(ref('Traces')),
  },
  {
    path: '/v1/svc/blocks/:id',
    method: 'get',
    summary: 'A text as it was before compression',
    description: 'From this machine only.',
    tag: 'Look',
    parameters: [{ name: 'id', in: 'path', description: 'Id of the block', schema: text }],
    answer: json(ref('LostBlock')),
    errors: [403, 404],
  },
  {
    path: '/v1/svc/lost/:id',
    method: 'get',
    summary: 'What a request lost to compression',
    description: 'From this machine only. `last` is the newest request that lost something.',
    tag: 'Look',
    parameters: [{ name: 'id', in: 'path', description: 'Id of the request', schema: text }],
    answer: json(ref('LostBlocks')),
    errors: [403, 404],
  },
  {
    path: '/vault',
    method: 'get',
    summary: 'What the vault holds',
    tag: 'Vault',
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'Blocks to list, 1000 if left out',
        schema: whole,
      },
      { name: 'offset', in: 'query', description: 'Blocks to skip', schema: whole },
    ],
    answer: json(ref('Vault')),
    errors: [400],
  },
  {
    path: '/ingest',
    method: 'post',
    summary: 'Add a block to the vault',
    tag: 'Vault',
    request: ref('ContextBlock'),
    answer: json(ref('Ingested')),
    errors: [400, 409, 413, 415, 422, 500],
  },
  {
    path: '/ingest/batch',
    method: 'post',
    summary: 'Add up to 1,000 blocks',
    description:
      'The list is the body itself, or stands under `blocks`, `documents` or `events`. Valid blocks are kept where others fail.',
    tag: 'Vault',
    request: {
      oneOf: [
        { type: 'array', items: ref('ContextBlock'), minItems: 1, maxItems: 1000 },
        { type: 'object', additionalProperties: true },
      ],
    },
    answer: json(ref('BatchIngested')),
    errors: [400, 413, 415, 422, 500],
  },
  {
    path: '/config/reload',
    method: 'post',
    summary: 'Reload the configuration',
    description: 'From this machine only, whatever key a caller has.',
    tag: 'Control',
    answer: json(ref('Reloaded')),
    errors: [403, 500],
  },
  {
    path: '/docs',
    method: 'get',
    summary: 'This description as a page',
    tag: 'Look',
    answer: html,
    isPublic: true,
  },
  {
    path: '/docs/',
    method: 'get',
    summary: 'The same page',
    tag: 'Look',
    answer: html,
    isPublic: true,
  },
  {
    path: '/docs/:page',
    method: 'get',
    summary: 'A page of the documentation',
    tag: 'Look',
    parameters: [
      { name: 'page', in: 'path', description: 'Its name, such as `settings`', schema: text },
    ],
    answer: html,
    errors: [404],
  },
  {
    path: '/openapi.yaml',
    method: 'get',
    summary: 'This description as OpenAPI 3.0',
    tag: 'Look',
    answer: { 'application/yaml': text },
    isPublic: true,
  },
];

const MODE: Parameter = {
  name: 'x-svc-mode',
  in: 'header',
  description: 'Compression mode of this request',
  schema: oneOf('strict', 'hybrid', 'aggressive'),
};
const BYPASS: Parameter = {
  name: 'x-svc-bypass',
  in: 'header',
  description: '`1` sends the request unchanged',
  schema: oneOf('1'),
};
const CACHE: Parameter = {
  name: 'x-svc-cache',
  in: 'header',
  description: '`on` lets the response cache answer',
  schema: oneOf('on', 'off'),
};
const CAPTURE: Parameter = {
  name: 'x-svc-capture',
  in: 'header',
  description: '`on` keeps this request for `svc replay`, `off` does not',
  schema: oneOf('on', 'off'),
};
const VERSION: Parameter = {
  name: 'anthropic-version',
  in: 'header',
  description: '`2023-06-01` is recommended',
  schema: text,
};
const MODEL: Parameter = {
  name: 'model',
  in: 'path',
  description: 'Name of the model',
  schema: text,
};
const TEMPLATE: Parameter = {
  name: 'x-svc-template',
  in: 'header',
  description: 'Name of a prompt template that is filled for this request',
  schema: text,
};
const TEMPLATE_VARS: Parameter = {
  name: 'x-svc-template-vars',
  in: 'header',
  description: 'Values of its variables, a JSON object of texts',
  schema: text,
};
const OURS = [MODE, BYPASS, CACHE, CAPTURE, TEMPLATE, TEMPLATE_VARS];
const UPSTREAM_ERRORS = [400, 402, 413, 415, 502, 504];
const stream = { 'text/event-stream': text, 'application/x-ndjson': text };
const free: Schema = { type: 'object', additionalProperties: true };

/** Paths that go on to a provider; its own error responses are passed through. */
export const forwardedOperations: readonly Operation[] = [
  {
    path: '/v1/messages',
    method: 'post',
    summary: 'Messages, streamed or not',
    tag: 'Proxied',
    parameters: [VERSION, ...OURS],
    request: ref('MessagesRequest'),
    answer: { ...json(ref('MessagesAnswer')), ...stream },
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/v1/messages/count_tokens',
    method: 'post',
    summary: 'Tokens of a request, counted by the provider',
    tag: 'Proxied',
    parameters: [VERSION],
    request: free,
    answer: json(free),
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/v1/chat/completions',
    method: 'post',
    summary: 'Chat completions, streamed or not',
    tag: 'Proxied',
    parameters: OURS,
    request: ref('ChatRequest'),
    answer: { ...json(ref('ChatAnswer')), ...stream },
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/v1/responses',
    method: 'post',
    summary: 'Responses, streamed or not',
    description: 'An upgrade to WebSocket is answered with 426: clients then continue over HTTP.',
    tag: 'Proxied',
    parameters: OURS,
    request: ref('AnyRequest'),
    answer: { ...json(free), ...stream },
    errors: [...UPSTREAM_ERRORS, 426],
  },
  {
    path: '/v1/embeddings',
    method: 'post',
    summary: 'Embeddings, passed through',
    tag: 'Proxied',
    request: free,
    answer: json(free),
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/v1/models',
    method: 'get',
    summary: 'The models that can be asked for',
    tag: 'Proxied',
    answer: json(free),
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/v1/models/:model',
    method: 'get',
    summary: 'One model',
    tag: 'Proxied',
    parameters: [MODEL],
    answer: json(free),
    errors: [404, ...UPSTREAM_ERRORS],
  },
  {
    path: '/v1beta/models/:model:generateContent',
    method: 'post',
    summary: 'Generative content',
    tag: 'Proxied',
    parameters: [MODEL, ...OURS],
    request: ref('AnyRequest'),
    answer: json(free),
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/v1beta/models/:model:streamGenerateContent',
    method: 'post',
    summary: 'Generative content, streamed',
    tag: 'Proxied',
    parameters: [MODEL, ...OURS],
    request: ref('AnyRequest'),
    answer: { ...json(free), ...stream },
    errors: UPSTREAM_ERRORS,
  },
  {
    path: '/ws',
    method: 'get',
    summary: 'The same by WebSocket',
    description:
      'An upgrade, also on the WebSocket port. Each text frame is a request (`model`, `messages`, `max_tokens`, `stream`, `api_key`); events come as text frames, or gzip-compressed binary ones.',
    tag: 'Proxied',
    errors: [426],
  },
];
