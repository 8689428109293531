/** The schemas of what the proxy itself answers. A test holds real answers against them. */
import {
  about,
  byName,
  flag,
  list,
  moment,
  nullable,
  number,
  object,
  oneOf,
  open,
  text,
  whole,
  ref,
} from './schema.ts';
import type { Schema } from './schema.ts';

const usd = about(number, 'US dollars');
const ms = about(number, 'Milliseconds');

const net = {
  tokens_added: about(whole, 'Input tokens added from the vault'),
  cost_added: nullable(usd),
  net_tokens_saved: about({ type: 'integer' }, 'Saved less added'),
  net_cost_saved: nullable(usd),
};

const rowNet = {
  tokens_added: nullable(whole),
  cost_added: nullable(usd),
  net_tokens_saved: nullable({ type: 'integer' }),
  net_cost_saved: nullable(usd),
};

const sessionSums = {
  requests: whole,
  input_tokens: about(whole, 'As clients sent them'),
  sent_input_tokens: about(whole, 'As they went upstream'),
  saved_tokens: whole,
  output_tokens: whole,
  errors: whole,
  cache_hits: about(whole, 'Answers from the response cache'),
  cost: nullable(usd),
  unpriced: about(whole, 'Requests whose model has no known price'),
  cost_saved: nullable(usd),
};

/** What svc reads in the body of a request; it is gone from what a provider gets. */
const own = { svc_template: ref('TemplateUse') };

const vaultIndex = object({ available: flag, blocks: whole, path: text });

const rowBreakpoints = object({
  set: about(whole, 'Cache markers that svc set'),
  read_tokens: nullable(whole),
  written_tokens: nullable(whole),
  cost_saved: nullable(usd),
});

const recentFields = {
  request_id: text,
  timestamp: moment,
  model: nullable(text),
  provider: nullable(text),
  input_tokens: nullable(whole),
  sent_input_tokens: nullable(whole),
  output_tokens: nullable(whole),
  latency_ms: nullable(ms),
  status_code: nullable(whole),
  outcome: oneOf('ok', 'error', 'cancelled', 'partial'),
  tokens_saved: nullable(whole),
  cost: nullable(usd),
  cost_without: nullable(usd),
  cost_saved: nullable(usd),
  net_tokens_saved: nullable({ type: 'integer' }),
  net_cost_saved: nullable(usd),
};

const injection = {
  cache_breakpoints: rowBreakpoints,
  vault_injection: object({
    chunks_injected: whole,
    tokens_injected: nullable(whole),
    tokens_added: nullable(whole),
    cost_added: nullable(usd),
    top_chunks: list(text),
  }),
};

/** A request with all that its row in the ledger has. */
const requestFields = {
  ...recentFields,
  endpoint: text,
  model_requested: nullable(text),
  model_resolved: about(nullable(text), 'The model that answered'),
  stream: flag,
  mode: nullable(text),
  client: nullable(text),
  session_id: nullable(text),
  failed: flag,
  error_kind: nullable(text),
  error_code: nullable(text),
  attempts: whole,
  ttfb_ms: nullable(ms),
  response_cache_hit: flag,
  usage_estimated: flag,
  provider_cache_read_tokens: nullable(whole),
  provider_cache_creation_tokens: nullable(whole),
};

const speedCache = object({
  hits: whole,
  misses: whole,
  hit_ratio: nullable(number),
  entries: whole,
  bytes: whole,
});

const promptCache = { read_tokens: whole, creation_tokens: whole, hit_ratio: nullable(number) };

const savingSums = object({
  requests: whole,
  tokens_saved: whole,
  cost_saved_usd: nullable(usd),
  tokens_added: whole,
  cost_added_usd: nullable(usd),
  net_tokens_saved: { type: 'integer' },
  net_cost_saved_usd: nullable(usd),
});

const breakpoints = {
  requests: about(whole, 'Requests in which svc set cache markers'),
  read_tokens: whole,
  written_tokens: whole,
  cost_saved_usd: nullable(usd),
};

/** A lane of compression, with the requests that took it. */
const lane = (requests: string) =>
  object({
    requests: about(whole, requests),
    tokens_saved: whole,
    cost_saved_usd: nullable(usd),
  });

const lanes = object({
  compression: object({ tokens_saved: whole, cost_saved_usd: nullable(usd) }),
  cache_breakpoints: object(breakpoints),
  forgetting: lane('Requests from which old results of tools were left out'),
  long_results: lane('Requests in which long results went out in parts'),
  tools: lane('Requests in which definitions of tools were trimmed'),
  response_cache: object({ requests: whole, cost_saved_usd: nullable(usd) }),
  provider_cache: about(
    object({ read_tokens: whole, written_tokens: whole }),
    'Cached without svc having asked for it: credited to nobody',
  ),
});

const noRequests = object({ error: oneOf('no_requests'), message: text });

const stored = {
  block_id: text,
  tokens: whole,
  stored: about(flag, 'False for a block that was there already'),
};

const totals = {
  ...sessionSums,
  ...net,
  avg_latency_ms: nullable(ms),
  saved_percent: nullable(number),
  cost_without: about(nullable(usd), 'What would have been paid without svc'),
  provider_cache_read_tokens: whole,
  provider_cache_creation_tokens: whole,
};

const percentiles = { p50_ms: nullable(ms), p95_ms: nullable(ms), p99_ms: nullable(ms) };
const groups = list(object({ name: nullable(text), ...totals }), 50);

export const componentSchemas: Readonly<Record<string, Schema>> = {
  Error: object(
    {
      type: oneOf('error'),
      error: object({ type: text, message: text }, { code: text }),
    },
    { request_id: about(text, 'The id of the request in log and trace') },
  ),
  NoRequests: noRequests,
  Root: object({
    name: text,
    version: text,
    status: oneOf('running'),
    endpoints: byName(text),
    docs: text,
  }),
  Health: about(
    open(
      {
        status: oneOf('ok', 'degraded'),
        reasons: about(list(text), 'Why it is degraded'),
        version: text,
        uptime_seconds: whole,
        paused: flag,
        compilation_mode: oneOf('strict', 'hybrid', 'aggressive'),
        compilation_mode_applies_to: oneOf('all conversations', 'new conversations'),
        vault_index: vaultIndex,
        router: object({
          enabled: flag,
          rules_loaded: whole,
          smart_routing_hit_rate: nullable(number),
        }),
        capsule_available: flag,
        budget: object({
          enabled: flag,
          total_tokens: about(whole, 'Tokens a day; 0 is no limit'),
          limits: object({
            per_request_usd: nullable(usd),
            per_session_usd: nullable(usd),
            per_day_usd: nullable(usd),
            tokens_per_day: nullable(whole),
          }),
          day: about(text, 'The UTC day that is counted'),
          spent_usd: nullable(usd),
          held_usd: about(usd, 'Estimated for requests that run'),
          tokens: nullable(whole),
          left_percent: nullable(number),
          warned: whole,
          blocked: whole,
          allowed_once: whole,
          unpriced: whole,
        }),
        circuit_breakers: about(
          open({
            any_open: flag,
            providers: byName(object({ state: text, open: flag, failures: whole })),
          }),
          'Each provider is also listed under its own name',
        ),
        requests_total: whole,
        requests_errors: whole,
        compression_ratio_avg: nullable(number),
        stats: object({ ...sessionSums, ...net, start_time: number }),
        latency: object({
          p50_latency_ms: nullable(ms),
          p99_latency_ms: nullable(ms),
          samples: whole,
        }),
      },
      ['status', 'version'],
    ),
    'A caller without access gets only status and version',
  ),
  Stats: object({
    session: object({ ...sessionSums, ...net, start_time: about(number, 'Epoch seconds') }),
    compilation_mode: oneOf('strict', 'hybrid', 'aggressive'),
    vault_index: vaultIndex,
    router: object({ enabled: flag }),
    today: object({ ...sessionSums, ...net, avg_latency_ms: nullable(ms) }),
    by_model: byName(
      object({
        requests: whole,
        input_tokens: whole,
        saved_tokens: whole,
        output_tokens: whole,
        cost: nullable(usd),
        unpriced: whole,
        ...net,
      }),
    ),
    recent: list(ref('RecentRequest'), 50),
  }),
  RecentRequest: object(recentFields, injection),
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
        last: moment,
        last_request_id: text,
      }),
      50,
    ),
    lanes,
    injections: object({
      requests: about(whole, 'Requests to which something was added from the vault'),
      chunks: whole,
      blocks: list(object({ block_id: text, requests: whole }), 20),
    }),
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
  }),
  DashboardRequests: object({
    requests: list(ref('DashboardRequest'), 10_000),
    complete: about(flag, 'False where older ones were left out'),
  }),
  Recent: object({ recent: list(ref('RecentRequest'), 50) }),
  LastRequest: object({
    request_id: text,
    timestamp: moment,
    model: nullable(text),
    tokens_saved: nullable(whole),
    percent_saved: nullable(number),
    cost_saved: nullable(usd),
    ...rowNet,
    session_total_saved: nullable(usd),
    session_requests: whole,
    input_tokens_raw: nullable(whole),
    input_tokens_sent: nullable(whole),
    output_tokens: nullable(whole),
  }),
  SessionSummary: object({
    session_requests: whole,
    session_total_saved: nullable(usd),
    tokens_saved: whole,
    tokens_sent: whole,
    tokens_raw: whole,
    output_tokens: whole,
    total_cost: nullable(usd),
    unpriced: whole,
    uptime_hours: number,
    errors: whole,
    avg_savings_pct: nullable(number),
    ...net,
  }),
  Savings: object({
    total_requests: whole,
    total_tokens_saved: whole,
    total_cost_saved_usd: nullable(usd),
    total_tokens_added: whole,
    total_cost_added_usd: nullable(usd),
    total_net_tokens_saved: { type: 'integer' },
    total_net_cost_saved_usd: nullable(usd),
    unpriced: whole,
    lanes,
    savings_by_model: byName(savingSums),
    savings_by_date_7d: byName(savingSums),
    provider_cache_read_tokens: about(
      whole,
      'All that providers read from their prompt caches; `lanes` says for which of it svc asked',
    ),
  }),
  CacheStats: object({
    response_cache: nullable(speedCache),
    compression_cache: speedCache,
    prompt_cache: object({
      ...promptCache,
      breakpoints: object(breakpoints),
      providers: byName(object(promptCache)),
    }),
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
      top_failures: about(byName(whole), 'By status; `none` where no answer was sent'),
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
  Trace: object(
    {
      request_id: text,
      timestamp: moment,
      endpoint: text,
      model: nullable(text),
      provider: nullable(text),
      status: nullable(whole),
      outcome: oneOf('ok', 'error', 'cancelled', 'partial'),
      error: nullable(text),
      duration_ms: ms,
      savings: nullable(
        object({
          tokens_saved: nullable(whole),
          cost_saved: nullable(usd),
          ...rowNet,
          cache_breakpoints: nullable(rowBreakpoints),
        }),
      ),
      stages: list(
        open(
          {
            name: about(text, 'The name of the stage in the specification'),
            node: text,
            duration_ms: ms,
            first_in_ms: nullable(ms),
            first_out_ms: nullable(ms),
            last_out_ms: nullable(ms),
            frames: whole,
          },
          ['name', 'node', 'duration_ms', 'frames'],
        ),
      ),
      attempts: list(
        object({
          provider: text,
          model: nullable(text),
          key: about(nullable(text), 'Where the key came from, never the key'),
          started_ms: ms,
          head_ms: nullable(ms),
          status: nullable(whole),
          failure: nullable(text),
        }),
      ),
    },
    {
      usage_corrected: about(flag, 'True where the provider sent token counts that are none'),
      capture: about(text, 'What became of its capture: `kept`, or `dropped: …`'),
    },
  ),
  Traces: object({ traces: list(ref('Trace'), 200), count: whole }),
  Vault: object({
    available: flag,
    blocks: whole,
    files: whole,
    total_tokens: whole,
    path: text,
    backend: oneOf('json_blocks', 'sqlite'),
    roots: list(text),
    offset: whole,
    limit: whole,
    block_list: list(
      object({
        block_id: text,
        source_path: text,
        risk_class: text,
        raw_tokens: whole,
        start_line: nullable(whole),
        end_line: nullable(whole),
      }),
    ),
  }),
  ContextBlock: open({ block_id: text, content: text, source_path: text, risk_class: text }, [
    'content',
  ]),
  Ingested: object({ status: oneOf('ok'), ids: list(text), ...stored }),
  BatchIngested: object({
    status: oneOf('ok'),
    ingested: whole,
    ids: list(text),
    results: list(open({ index: whole, status: oneOf('ok', 'error') }, ['index', 'status'])),
    errors: list(open({ index: whole, status: oneOf('error') }, ['index', 'status'])),
  }),
  Reloaded: object({
    status: oneOf('ok'),
    message: text,
    applied: list(text),
    needs_restart: list(text),
    warnings: list(text),
  }),
  LostBlock: open(
    {
      id: text,
      kind: text,
      tool: nullable(text),
      tokens: object({ before: whole, after: whole }),
      before: text,
      after: text,
    },
    ['id', 'before', 'after'],
  ),
  LostBlocks: object({ request_id: text, blocks: list(ref('LostBlock')) }),
  TemplateUse: about(
    {
      oneOf: [text, object({ name: text }, { vars: byName({ oneOf: [text, number, flag] }) })],
    },
    'A prompt template to fill for this request: its name, or its name and the values of its variables',
  ),
  AnyRequest: open(own),
  MessagesRequest: open(
    {
      ...own,
      model: text,
      messages: list(open({ role: text, content: {} }, ['role']), undefined),
      max_tokens: { type: 'integer', minimum: 1 },
      system: {},
      stream: flag,
      temperature: number,
      top_p: number,
      stop_sequences: list(text),
      tools: list(open({})),
      tool_choice: open({}),
    },
    ['model', 'messages', 'max_tokens'],
  ),
  MessagesAnswer: open(
    {
      id: text,
      type: oneOf('message'),
      role: oneOf('assistant'),
      content: list(open({ type: text }, ['type'])),
      model: text,
      stop_reason: nullable(text),
      usage: open({
        input_tokens: whole,
        output_tokens: whole,
        cache_read_input_tokens: nullable(whole),
        cache_creation_input_tokens: nullable(whole),
      }),
    },
    ['id', 'type', 'role', 'content', 'model'],
  ),
  ChatRequest: open(
    {
      ...own,
      model: text,
      messages: list(open({ role: text, content: {} }, ['role'])),
      max_tokens: { type: 'integer' },
      stream: flag,
      temperature: number,
      functions: list(open({})),
      tools: list(open({})),
    },
    ['model', 'messages'],
  ),
  ChatAnswer: open({ id: text, model: text, choices: list(open({})), usage: open({}) }, [
    'choices',
  ]),
};
