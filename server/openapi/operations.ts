/** What every path answers: the proxy's own ones, and those that it forwards. */
import { about, oneOf, ref, text, whole } from './schema.ts';
import type { Schema } from './schema.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly schema: Schema;
}

/** What an operation does, behind its method and path. */
interface Description {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request?: Schema;
  /** The body of the response that goes well, by media type; left out where it has no body. */
  readonly response?: Readonly<Record<string, Schema>>;
  /** Statuses of error responses besides those that every path has. */
  readonly errors?: readonly number[];
  /** True for what anybody may ask; false needs `X-Svc-Key` from elsewhere than this machine. */
  readonly isPublic?: boolean;
}

type Method = 'get' | 'post' | 'head';
type Tag = 'Look' | 'Vault' | 'Control' | 'Proxied';

export interface Operation extends Description {
  readonly method: Method;
  /** As the router spells it: `:id` for a segment of anything. */
  readonly path: string;
  readonly tag: Tag;
}

/** The operations of a tag, by method and path. */
function under(
  tag: Tag,
  operations: Readonly<Record<`${Method} /${string}`, Description>>,
): readonly Operation[] {
  return Object.entries(operations).map(([name, description]) => {
    const [method, path] = name.split(' ') as [Method, string];
    return { method, path, tag, ...description };
  });
}

const parameterIn =
  (where: Parameter['in']) =>
  (name: string, description: string, schema: Schema = text): Parameter => ({
    name,
    in: where,
    description,
    schema,
  });

const json = (schema: Schema) => ({ 'application/json': schema });
const html = { 'text/html': text };
const ID = about(text, 'Letters, digits, `_` and `-`, at most 64');

const inQuery = parameterIn('query');
const inPath = parameterIn('path');
const inHeader = parameterIn('header');

/** Which requests the dashboard wants; what is left out does not matter. */
const requestFilters: readonly Parameter[] = [
  inQuery('since', 'Requests from this ISO 8601 date or time on'),
  inQuery('until', 'Requests before this ISO 8601 date or time'),
  inQuery('model', 'Part of the model’s name, whatever its case'),
  inQuery('provider', 'Name of the provider'),
  inQuery('client', 'The agent, such as claude-code'),
  inQuery('session', 'The client’s own session id'),
  inQuery('outcome', 'How the request ended', oneOf('ok', 'error', 'cancelled', 'partial')),
  inQuery('failed', '1 for failed requests alone', oneOf('1')),
];

/** Paths that the proxy answers itself. */
export const ownOperations: readonly Operation[] = [
  ...under('Look', {
    'get /': {
      summary: 'Name, version and the main paths',
      response: json(ref('Root')),
      isPublic: true,
    },
    'head /api/hello': {
      summary: 'An empty answer, for clients that check whether the proxy is up',
    },
    'get /health': {
      summary: 'Health of the proxy, with the reasons where it is degraded',
      description: 'The answer is cached for a second.',
      response: json(ref('Health')),
      isPublic: true,
    },
    'get /stats': {
      summary: 'Requests, tokens and cost of the session, of today and by model',
      response: json(ref('Stats')),
    },
    'get /stats/last': {
      summary: 'What the newest request saved',
      response: json({ oneOf: [ref('LastRequest'), ref('NoRequests')] }),
    },
    'get /stats/session': {
      summary: 'What the session saved',
      response: json(ref('SessionSummary')),
    },
    'get /recent': {
      summary: 'The newest 50 requests, newest first',
      response: json(ref('Recent')),
    },
    'get /savings': {
      summary: 'What compression saved, by model and by day',
      parameters: [
        inQuery('since', 'Requests from this ISO 8601 date or time on, such as 2026-01-31'),
      ],
      response: json(ref('Savings')),
      errors: [400],
    },
    'get /savings/misses': {
      summary: 'What was lost because providers’ prompt caches were missed, by cause',
      parameters: [
        inQuery('since', 'Requests from this ISO 8601 date or time on, such as 2026-01-31'),
      ],
      response: json(ref('CacheMisses')),
      errors: [400],
    },
    'get /ledger/sums': {
      summary: 'The sums of the ledger by model and by day, to be added to those of other machines',
      parameters: [
        inQuery('since', 'Requests from this ISO 8601 date or time on'),
        inQuery('until', 'Requests before this ISO 8601 date or time'),
      ],
      response: json(ref('LedgerSums')),
      errors: [400],
    },
    'get /cache-stats': {
      summary: 'Hits of our caches and of the providers’ prompt caches',
      response: json(ref('CacheStats')),
    },
    'get /metrics': {
      summary: 'Counters and histograms for Prometheus',
      response: { 'text/plain': text },
      errors: [404],
    },
    'get /metrics/dashboard': {
      summary: 'Rates, latency, errors and sums of the last 24 hours',
      response: json(ref('Dashboard')),
      errors: [404],
    },
    'get /dashboard': {
      summary: 'The dashboard, a page that shows all of this as it happens',
      response: html,
    },
    'get /dashboard/:path*': {
      summary: 'The same page, opened at one of its views',
      description:
        'A document navigation from this machine gets it without a key: it holds no data. From elsewhere it comes with 401, and asks for the key.',
      parameters: [inPath('path', 'The view, such as `requests`')],
      response: html,
      errors: [404],
    },
    'get /dashboard/login': {
      summary: 'The same page, where it asks for a key',
      response: html,
      isPublic: true,
    },
    'post /dashboard/login': {
      summary: 'Exchange a key for the cookie of a browser',
      description:
        'With `key`, a proxy key, or `link`, the token of a link of `svc dashboard --public`. The cookie reads the dashboard and nothing else, and ends with the key. 401 where it is not valid.',
      request: { type: 'object', properties: { key: text, link: text } },
      response: json({ type: 'object', properties: { status: oneOf('ok') }, required: ['status'] }),
      errors: [400, 401, 413, 415],
      isPublic: true,
    },
    'get /dashboard/logout': { summary: 'The same page, which has no such view', response: html },
    'post /dashboard/logout': {
      summary: 'End the session of a browser',
      description:
        'The cookie that was sent is worth nothing from now on, and the browser forgets it. The same answer where none was sent.',
      response: json({ type: 'object', properties: { status: oneOf('ok') }, required: ['status'] }),
      isPublic: true,
    },
    'get /dashboard/app.js': {
      summary: 'The script of the dashboard',
      response: { 'text/javascript': text },
      isPublic: true,
    },
    'get /dashboard/app.css': {
      summary: 'The style of the dashboard',
      response: { 'text/css': text },
      isPublic: true,
    },
    'get /dashboard/icon.svg': {
      summary: 'The icon of the dashboard',
      response: { 'image/svg+xml': text },
      isPublic: true,
    },
    'get /dashboard/events': {
      summary: 'What happens, as server-sent events',
      description:
        'Events `state` (every two seconds at most), `rows` (finished requests, at most some twice a second) and, for readers on this machine, `log`. The stream goes on until the reader closes it; 503 where too many are open.',
      response: { 'text/event-stream': text },
    },
    'get /dashboard/api/requests': {
      summary: 'Finished requests from the ledger, newest first',
      parameters: [
        ...requestFilters,
        inQuery('limit', 'How many at most; 200', { type: 'integer', minimum: 1, maximum: 10_000 }),
      ],
      response: json(ref('DashboardRequests')),
      errors: [400],
    },
    'get /dashboard/api/report': {
      summary: 'Sums, series, latency, groups and failures of a range of time',
      description: 'Steps of the series without requests are left out.',
      parameters: requestFilters,
      response: json(ref('DashboardReport')),
      errors: [400],
    },
    'get /dashboard/api/conversations': {
      summary: 'Conversations of clients that name their sessions, newest first',
      parameters: [
        ...requestFilters,
        inQuery('limit', 'How many at most; 200', { type: 'integer', minimum: 1, maximum: 1000 }),
      ],
      response: json(ref('DashboardConversations')),
      errors: [400],
    },
    'get /dashboard/api/request/:id': {
      summary: 'One request: its row in the ledger, and its trace while that is kept',
      parameters: [inPath('id', 'Id of the request', ID)],
      response: json(ref('DashboardOneRequest')),
      errors: [404],
    },
    'get /trace/last': {
      summary: 'The newest request, step by step',
      response: json({ oneOf: [ref('Trace'), ref('NoRequests')] }),
    },
    'get /trace/:id': {
      summary: 'One request, step by step, with every attempt at a provider',
      parameters: [inPath('id', 'Id of the request', ID)],
      response: json(ref('Trace')),
      errors: [404],
    },
    'get /traces': {
      summary: 'The newest 200 requests, step by step',
      response: json(ref('Traces')),
    },
    'get /graph': {
      summary: 'The stages that requests and answers pass, and who inserted them',
      response: json(ref('Graph')),
    },
    'get /v1/svc/blocks/:id': {
      summary: 'A text as it was before compression',
      description: 'From this machine only.',
      parameters: [inPath('id', 'Id of the block')],
      response: json(ref('LostBlock')),
      errors: [403, 404],
    },
    'get /v1/svc/lost/:id': {
      summary: 'What a request lost to compression',
      description: 'From this machine only. `last` is the newest request that lost something.',
      parameters: [inPath('id', 'Id of the request')],
      response: json(ref('LostBlocks')),
      errors: [403, 404],
    },
  }),
  ...under('Vault', {
    'get /vault': {
      summary: 'What the vault holds',
      parameters: [
        inQuery('limit', 'Blocks to list, 1000 if left out', whole),
        inQuery('offset', 'Blocks to skip', whole),
      ],
      response: json(ref('Vault')),
      errors: [400],
    },
    'post /ingest': {
      summary: 'Add a block to the vault',
      request: ref('ContextBlock'),
      response: json(ref('Ingested')),
      errors: [400, 409, 413, 415, 422, 500],
    },
    'post /ingest/batch': {
      summary: 'Add up to 1,000 blocks',
      description:
        'The list is the body itself, or stands under `blocks`, `documents` or `events`. Valid blocks are kept where others fail.',
      request: {
        oneOf: [
          { type: 'array', items: ref('ContextBlock'), minItems: 1, maxItems: 1000 },
          { type: 'object', additionalProperties: true },
        ],
      },
      response: json(ref('BatchIngested')),
      errors: [400, 413, 415, 422, 500],
    },
  }),
  ...under('Control', {
    'post /config/reload': {
      summary: 'Reload the configuration',
      description: 'From this machine only, whatever key a caller has.',
      response: json(ref('Reloaded')),
      errors: [403, 500],
    },
  }),
  ...under('Look', {
    'get /docs': { summary: 'The documentation', response: html, isPublic: true },
    'get /docs/': { summary: 'The same page', response: html, isPublic: true },
    'get /docs/:page': {
      summary: 'A page of the documentation',
      parameters: [
        inPath(
          'page',
          'Its name, such as `settings`; `api` is this description, `settings.md` a page as Markdown, `llms.txt` a list of all',
        ),
      ],
      response: html,
      errors: [404],
    },
    'get /openapi.yaml': {
      summary: 'This description as OpenAPI 3.0',
      response: { 'application/yaml': text },
      isPublic: true,
    },
  }),
];

const MODE = inHeader(
  'x-svc-mode',
  'Compression mode of this request',
  oneOf('strict', 'hybrid', 'aggressive'),
);
const BYPASS = inHeader(
  'x-svc-bypass',
  '`1` sends the request unchanged; where a plugin has a stage, from another machine with a key that may',
  oneOf('1'),
);
const CACHE = inHeader('x-svc-cache', '`on` lets the response cache answer', oneOf('on', 'off'));
const CAPTURE = inHeader(
  'x-svc-capture',
  '`on` keeps this request for `svc replay`, `off` does not',
  oneOf('on', 'off'),
);
const VERSION = inHeader('anthropic-version', '`2023-06-01` is recommended');
const MODEL = inPath('model', 'Name of the model');
const TEMPLATE = inHeader(
  'x-svc-template',
  'Name of a prompt template that is filled for this request',
);
const TEMPLATE_VARS = inHeader(
  'x-svc-template-vars',
  'Values of its variables, a JSON object of texts',
);
const ALLOW_SPEND = inHeader(
  'x-svc-allow-spend',
  '`once` lets this request exceed a spending limit; from another machine with a key that may',
  oneOf('once'),
);
const MACRO = inHeader(
  'x-svc-macro',
  'Name of a macro that is a stage for this conversation from now on; from another machine with a key that may',
);
const SKILL = inHeader('x-svc-skill', 'The skill that `svc attribution` counts this request to');
const PROJECT = inHeader(
  'x-svc-project',
  'The project that this request is for; by default that of the key, or the working directory that the prompt of a known agent names',
);
const OURS = [
  MODE,
  BYPASS,
  CACHE,
  CAPTURE,
  TEMPLATE,
  TEMPLATE_VARS,
  ALLOW_SPEND,
  MACRO,
  SKILL,
  PROJECT,
];
const UPSTREAM_ERRORS = [400, 402, 413, 415, 502, 504];
const stream = { 'text/event-stream': text, 'application/x-ndjson': text };
const free: Schema = { type: 'object', additionalProperties: true };

/** Paths that go on to a provider; its own error responses are passed through. */
export const forwardedOperations: readonly Operation[] = [
  ...under('Proxied', {
    'post /v1/messages': {
      summary: 'Messages, streamed or not',
      parameters: [VERSION, ...OURS],
      request: ref('MessagesRequest'),
      response: { ...json(ref('MessagesAnswer')), ...stream },
      errors: UPSTREAM_ERRORS,
    },
    'post /v1/messages/count_tokens': {
      summary: 'Tokens of a request, counted by the provider',
      parameters: [VERSION],
      request: free,
      response: json(free),
      errors: [404, ...UPSTREAM_ERRORS],
    },
    'post /v1/chat/completions': {
      summary: 'Chat completions, streamed or not',
      parameters: OURS,
      request: ref('ChatRequest'),
      response: { ...json(ref('ChatAnswer')), ...stream },
      errors: UPSTREAM_ERRORS,
    },
    'post /v1/responses': {
      summary: 'Responses, streamed or not',
      description: 'An upgrade to WebSocket is answered with 426: clients then continue over HTTP.',
      parameters: OURS,
      request: ref('AnyRequest'),
      response: { ...json(free), ...stream },
      errors: [...UPSTREAM_ERRORS, 426],
    },
    'post /v1/embeddings': {
      summary: 'Embeddings, passed through',
      request: free,
      response: json(free),
      errors: UPSTREAM_ERRORS,
    },
    'get /v1/models': {
      summary: 'The models that can be asked for',
      response: json(free),
      errors: UPSTREAM_ERRORS,
    },
    'get /v1/models/:model': {
      summary: 'One model',
      parameters: [MODEL],
      response: json(free),
      errors: [404, ...UPSTREAM_ERRORS],
    },
    'post /v1beta/models/:model:generateContent': {
      summary: 'Generative content',
      parameters: [MODEL, ...OURS],
      request: ref('AnyRequest'),
      response: json(free),
      errors: UPSTREAM_ERRORS,
    },
    'post /v1beta/models/:model:streamGenerateContent': {
      summary: 'Generative content, streamed',
      parameters: [MODEL, ...OURS],
      request: ref('AnyRequest'),
      response: { ...json(free), ...stream },
      errors: UPSTREAM_ERRORS,
    },
    'get /ws': {
      summary: 'The same by WebSocket',
      description:
        'An upgrade, also on the WebSocket port. Each text frame is a request (`model`, `messages`, `max_tokens`, `stream`, `api_key`); events come as text frames, or gzip-compressed binary ones.',
      errors: [426],
    },
  }),
];
