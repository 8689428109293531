/** The operations of the proxy's own paths. */
import { ROW_ORDERS } from '../../stages/ledger/row-order.ts';
import { inPath, inQuery, json, withTag } from './operation.ts';
import type { Operation, Parameter } from './operation.ts';
import { about, oneOf, ref, text, whole } from './schema.ts';

const html = { 'text/html': text };
const ID = about(text, 'Letters, digits, `_` and `-`, at most 64');

/** Filters of the dashboard's requests; an absent one does not filter. */
const requestFilters: readonly Parameter[] = [
  inQuery('since', 'Requests from this ISO 8601 date or time on'),
  inQuery('until', 'Requests before this ISO 8601 date or time'),
  inQuery('model', 'Part of the model’s name, ignoring case'),
  inQuery('provider', 'Name of the provider'),
  inQuery('client', 'The agent, such as claude-code'),
  inQuery('session', 'The client’s own session id'),
  inQuery('key', 'The label of the proxy key'),
  inQuery('project', 'Name of the project'),
  inQuery('q', 'Words that must all occur in the id or a name of the request, ignoring case'),
  inQuery('outcome', 'How the request ended', oneOf('ok', 'error', 'cancelled', 'partial')),
  inQuery('failed', '1 for failed requests only', oneOf('1')),
];

/** Paths that the proxy serves itself. */
export const ownOperations: readonly Operation[] = [
  ...withTag('Look', {
    'get /': {
      summary: 'Name, version and the main paths',
      response: json(ref('Root')),
      isPublic: true,
    },
    'head /api/hello': {
      summary: 'An empty response, for clients that check whether the proxy is up',
    },
    'get /health': {
      summary: 'Health of the proxy, with reasons if it is degraded',
      description: 'The response is cached for a second. `HEAD` has the same status and no body.',
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
      summary: 'Cost of prompt-cache misses, by cause',
      parameters: [
        inQuery('since', 'Requests from this ISO 8601 date or time on, such as 2026-01-31'),
      ],
      response: json(ref('CacheMisses')),
      errors: [400],
    },
    'get /ledger/sums': {
      summary: 'Sums of the ledger by model and day, for adding to those of other machines',
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
      summary: 'The dashboard, a page that shows all of this live',
      response: html,
    },
    'get /dashboard/:path*': {
      summary: 'The same page, opened at one of its views',
      description:
        'A document navigation from this machine gets it without a key: it contains no data. From elsewhere it comes with 401, and asks for the key.',
      parameters: [inPath('path', 'The view, such as `requests`')],
      response: html,
      errors: [404],
    },
    'get /dashboard/login': {
      summary: 'The same page, when it asks for a key',
      response: html,
      isPublic: true,
    },
    'post /dashboard/login': {
      summary: 'Exchange a key for the cookie of a browser',
      description:
        'With `key`, a proxy key, or `link`, the token of a link of `svc dashboard --public`. The cookie gives access to the dashboard only, and expires with the key. 401 if the key or link is not valid.',
      request: { type: 'object', properties: { key: text, link: text } },
      response: json({ type: 'object', properties: { status: oneOf('ok') }, required: ['status'] }),
      errors: [400, 401, 413, 415],
      isPublic: true,
    },
    'get /dashboard/logout': {
      summary: 'The same page, for a view that does not exist',
      response: html,
    },
    'post /dashboard/logout': {
      summary: 'End the session of a browser',
      description:
        'The cookie is invalid from now on, and the browser deletes it. Without a cookie the response is the same.',
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
      summary: 'Live events, as server-sent events',
      description:
        'Events `state` (every two seconds at most), `rows` (finished requests, at most some twice a second) and, for readers on this machine, `log`. The stream lasts until the reader closes it; 503 if too many are open.',
      response: { 'text/event-stream': text },
    },
    'get /dashboard/api/requests': {
      summary: 'Finished requests from the ledger, newest first or in another order',
      parameters: [
        ...requestFilters,
        inQuery('sort', 'Field to sort by; default timestamp', oneOf(...ROW_ORDERS)),
        inQuery('order', 'Direction; default desc', oneOf('desc', 'asc')),
        inQuery('offset', 'Offset in the list; default 0', {
          type: 'integer',
          minimum: 0,
          maximum: 1_000_000,
        }),
        inQuery('limit', 'Maximum number; default 200', {
          type: 'integer',
          minimum: 1,
          maximum: 10_000,
        }),
      ],
      response: json(ref('DashboardRequests')),
      errors: [400],
    },
    'get /dashboard/api/report': {
      summary: 'Sums, series, latency, groups and failures in a time range',
      description: 'Steps without requests are left out of the series.',
      parameters: requestFilters,
      response: json(ref('DashboardReport')),
      errors: [400],
    },
    'get /dashboard/api/stacks': {
      summary: 'Requests, cost and input over time, grouped by one field',
      parameters: [
        ...requestFilters,
        inQuery(
          'by',
          'What to stack by; default model',
          oneOf('model', 'project', 'key', 'client'),
        ),
      ],
      response: json(ref('DashboardStacks')),
      errors: [400],
    },
    'get /dashboard/api/tools': {
      summary: 'Tokens and cost of tools and MCP servers, by UTC day in a time range',
      description:
        'Null with filters for which there are no sums: conversation, outcome, failure and words.',
      parameters: requestFilters,
      response: json(ref('DashboardTools')),
      errors: [400],
    },
    'get /dashboard/api/conversations': {
      summary: 'Conversations of clients that name their sessions, newest first',
      parameters: [
        ...requestFilters,
        inQuery('limit', 'Maximum number; default 200', {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
        }),
      ],
      response: json(ref('DashboardConversations')),
      errors: [400],
    },
    'get /dashboard/api/request/:id': {
      summary: 'One request: its ledger row, and its trace while that is stored',
      parameters: [inPath('id', 'Id of the request', ID)],
      response: json(ref('DashboardOneRequest')),
      errors: [404],
    },
    'get /dashboard/api/stages': {
      summary: 'The time in each stage, of the newest 200 requests',
      response: json(ref('DashboardStages')),
    },
    'get /dashboard/api/recipes': {
      summary: 'The active recipes, and what each has changed since the start',
      response: json(ref('DashboardRecipes')),
    },
    'get /trace/last': {
      summary: 'The newest request, step by step',
      response: json({ oneOf: [ref('Trace'), ref('NoRequests')] }),
    },
    'get /trace/:request_id': {
      summary: 'One request, step by step, with every attempt at a provider',
      parameters: [inPath('request_id', 'Id of the request', ID)],
      response: json(ref('Trace')),
      errors: [404],
    },
    'get /traces': {
      summary: 'The newest 200 requests, step by step',
      response: json(ref('Traces')),
    },
    'get /why/:id': {
      summary: 'Why a request cost, missed, failed or saved what it did, in words',
      description:
        'The beginning or end of an id is enough; `last` is the newest request. Stages and attempts are included while this proxy keeps the trace.',
      parameters: [inPath('id', 'Id of the request, or a part of it')],
      response: json(ref('Why')),
      errors: [400, 404],
    },
    'get /limits': {
      summary: 'How much of plans and rate limits is used, as reported by providers',
      response: json(ref('Limits')),
    },
    'get /graph': {
      summary: 'The stages that requests and answers pass, and which plugin inserted each',
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
      summary: 'What compression removed from a request',
      description:
        'From this machine only. `last` is the newest request from which something was removed.',
      parameters: [inPath('id', 'Id of the request')],
      response: json(ref('LostBlocks')),
      errors: [403, 404],
    },
  }),
  ...withTag('Vault', {
    'get /vault': {
      summary: 'What is in the vault',
      parameters: [
        inQuery('limit', 'Blocks to list; default 1000', whole),
        inQuery('offset', 'Blocks to skip', whole),
      ],
      response: json(ref('Vault')),
      errors: [400],
    },
    'get /vault/search': {
      summary: 'The blocks that match a query, best first',
      description: 'Only blocks that may be sent to a provider.',
      parameters: [
        inQuery('query', 'Words, at most 500 characters'),
        inQuery('top', 'Hits, 1 to 20; default 5', whole),
      ],
      response: json(ref('VaultHits')),
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
        'The list is the body itself, or its member `blocks`, `documents` or `events`. Valid blocks are kept even if others fail.',
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
  ...withTag('Control', {
    'post /config/reload': {
      summary: 'Reload the configuration',
      description: 'From this machine only, whatever key the caller has.',
      response: json(ref('Reloaded')),
      errors: [403, 500],
    },
  }),
  ...withTag('Look', {
    'post /mcp': {
      summary: 'The MCP server, over streamable HTTP',
      description:
        'The same as `svc mcp`: one JSON-RPC message per request, without a session. Texts of conversations and prompt templates are for this machine only.',
      request: ref('McpMessage'),
      response: { ...json(ref('McpMessage')), 'text/event-stream': text },
      errors: [400, 413, 415],
    },
    'get /docs': { summary: 'The documentation', response: html, isPublic: true },
    'get /docs/': { summary: 'The same page', response: html, isPublic: true },
    'get /docs/:page': {
      summary: 'A page of the documentation',
      parameters: [
        inPath(
          'page',
          'Its name, such as `settings`; `api` is this description, `settings.md` a page as Markdown, `dashboard.webp` a picture, `llms.txt` a list of all',
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
