/** The schemas of the dashboard's data, and of the figures for external dashboards. */
import {
  usd,
  ms,
  injection,
  requestFields,
  lanes,
  totals,
  percentiles,
  groups,
  toolFields,
} from './fields.ts';
import {
  text,
  flag,
  whole,
  number,
  moment,
  nullable,
  list,
  object,
  byName,
  about,
  ref,
} from './schema.ts';
import type { Schema } from './schema.ts';

/** Token counts by the fixed estimator. */
const changed = {
  blocks: about(whole, 'Changed texts, counted in every request'),
  tokens_before: whole,
  tokens_after: whole,
};

const stackFigures = { requests: whole, cost: nullable(usd), sent_input_tokens: whole };

export const dashboardSchemas: Readonly<Record<string, Schema>> = {
  DashboardRequest: object(requestFields, injection),
  DashboardReport: object({
    since: moment,
    series_since: about(moment, 'The first request of the range'),
    until: moment,
    bucket_seconds: whole,
    totals: object({ ...totals, cancelled: whole, streamed: whole }),
    latency: object({ ...percentiles, samples: whole }),
    series: list(object({ timestamp: moment, ...totals, ...percentiles })),
    by_model: groups,
    by_provider: groups,
    by_client: groups,
    failures: list(
      object({
        status: nullable(whole),
        error_kind: nullable(text),
        error_code: nullable(text),
        provider: nullable(text),
        requests: whole,
        client: about(nullable(text), 'The agent of all of them; null if there were several'),
        clients: about(whole, 'Number of different agents'),
        last: moment,
        last_request_id: text,
      }),
      50,
    ),
    attempts: object({
      failed: about(whole, 'Failed attempts at providers, whatever the client finally got'),
      answered_later: about(whole, 'Requests that succeeded after such an attempt'),
      thoughts_dropped: about(whole, 'Thinking blocks that providers report as dropped'),
      thoughts_refused: about(whole, 'Requests whose thinking blocks a provider first refused'),
    }),
    lanes,
    injections: object({
      requests: about(whole, 'Requests to which something was added from the vault'),
      chunks: whole,
      blocks: list(object({ block_id: text, requests: whole }), 20),
    }),
  }),
  DashboardStacks: object({
    series_since: moment,
    until: moment,
    bucket_seconds: whole,
    stacks: list(
      object({
        name: nullable(text),
        rest: about(flag, 'True for the sum of all further names'),
        ...stackFigures,
        series: list(object({ timestamp: moment, ...stackFigures })),
      }),
      6,
    ),
  }),
  DashboardTools: object({
    tools: nullable(list(object({ name: text, ...toolFields }), 200)),
    mcp_servers: nullable(list(object({ name: text, ...toolFields }), 200)),
  }),
  DashboardConversations: object({
    conversations: list(
      object({ session_id: text, client: nullable(text), first: moment, last: moment, ...totals }),
      1000,
    ),
  }),
  DashboardOneRequest: object({
    request: nullable({ type: 'object', allOf: [ref('DashboardRequest')] }),
    trace: nullable({ type: 'object', allOf: [ref('Trace')] }),
    cost_units: list(
      object({
        unit: about(
          text,
          'Such as `input`, `cache_read`, `web_search`; the rest of the cost is `other`',
        ),
        count: about(nullable(whole), 'Tokens, or searches; null for `other`'),
        cost: nullable(usd),
      }),
    ),
  }),
  DashboardStages: object({
    requests: about(whole, 'Requests behind the figures'),
    requests_per_second: number,
    stages: list(
      object({
        node: about(text, 'Its name in `svc graph`'),
        within: about(nullable(text), 'The stage whose time includes this one'),
        requests: whole,
        busy_ms: about(ms, 'Time inside the stage, all requests together'),
      }),
    ),
  }),
  DashboardRecipes: object({
    recipes: list(
      object({
        node: about(nullable(text), 'The stage that adds it; null for a rule of the program'),
        name: text,
        from: text,
        description: nullable(text),
        requests: whole,
        ...changed,
        on: about(
          list(object({ name: text, ...changed }), 21),
          'Tools and classes of text, most tokens saved first',
        ),
      }),
    ),
  }),
  DashboardRequests: object({
    requests: list(ref('DashboardRequest'), 10_000),
    complete: about(flag, 'False if older ones were left out'),
  }),
  Dashboard: object({
    timestamp: moment,
    uptime_seconds: number,
    requests: object({
      total: whole,
      throughput_req_per_sec: nullable(number),
      window_seconds: nullable(number),
      '24h_window': flag,
    }),
    latency: object({
      p50_ms: nullable(ms),
      p95_ms: nullable(ms),
      p99_ms: nullable(ms),
      avg_ms: nullable(ms),
      samples: whole,
    }),
    models: byName(
      object({
        requests: whole,
        input_tokens: whole,
        output_tokens: whole,
        saved_tokens: whole,
        cost: nullable(usd),
      }),
    ),
    routing: object({ smart_routing_hit_rate: nullable(number) }),
    cache: object({
      hit_ratio: nullable(number),
      read_tokens: whole,
      creation_tokens: whole,
      response_cache_hits: whole,
    }),
    errors: object({
      error_rate: nullable(number),
      error_count: whole,
      top_failures: about(byName(whole), 'By status; `none` if no response was sent'),
    }),
    streaming: object({ count: whole, percentage: nullable(number) }),
    window_24h: object({
      input_tokens: whole,
      sent_input_tokens: whole,
      output_tokens: whole,
      saved_tokens: whole,
      total_cost: nullable(usd),
      unpriced: whole,
      total_cost_saved: nullable(usd),
    }),
  }),
};
