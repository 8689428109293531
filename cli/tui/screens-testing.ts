/** Models of the dashboard's screens with hostile text in every field. */
import { createColors } from '../screen/colors.ts';
import type { LiveState, ReportJson, RequestJson, Trace } from '../../server/dashboard/contract.ts';
import type { Size } from './render.ts';
import type { Model } from './model.ts';
import { TABS, firstModel } from './model.ts';

export const HOSTILE = 'claude-\u001b[31mred\u001b]0;owned\u0007\u009b2J\r\n\tforged \u202e';
export const SIZES: readonly Size[] = [
  { columns: 80, rows: 24 },
  { columns: 40, rows: 12 },
  { columns: 200, rows: 60 },
  { columns: 9, rows: 3 },
  { columns: 1, rows: 1 },
];

export function row(index: number, change: Partial<RequestJson> = {}): RequestJson {
  return {
    request_id: `req_${index}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 12, 0, index)).toISOString(),
    model: 'claude-opus-4-1',
    model_requested: 'claude-opus-4-1',
    model_resolved: 'claude-opus-4-1',
    provider: 'messages',
    client: 'claude-code',
    endpoint: '/v1/messages',
    input_tokens: 12_345,
    sent_input_tokens: 2345,
    output_tokens: 17,
    tokens_saved: 10_000,
    latency_ms: 830,
    ttfb_ms: 120,
    status_code: 200,
    outcome: 'ok',
    cost: 0.0123,
    cost_without: 0.04,
    failed: false,
    attempts: 1,
    mode: 'hybrid',
    provider_cache_read_tokens: 0,
    provider_cache_creation_tokens: 0,
    ...change,
  } as RequestJson;
}

export const TRACE = {
  duration_ms: 100,
  error: null,
  model: HOSTILE,
  stages: [
    { node: 'parse', within: null, duration_ms: 1, first_in_ms: 0, last_out_ms: 1 },
    {
      node: 'x',
      within: 'parse',
      duration_ms: 60,
      first_in_ms: 40,
      last_out_ms: 100,
      error: HOSTILE,
    },
  ],
  attempts: [
    {
      provider: 'messages',
      model: HOSTILE,
      key: null,
      started_ms: 1,
      head_ms: 9,
      status: 502,
      failure: HOSTILE,
      words: HOSTILE,
    },
  ],
} as unknown as Trace;

export const TOTALS = {
  requests: 12,
  errors: 1,
  cost: 1.5,
  cost_without: 3,
  net_cost_saved: 1.5,
  saved_tokens: 120_000,
  saved_percent: 55,
  input_tokens: 200_000,
  sent_input_tokens: 80_000,
  unpriced: 0,
  cancelled: 0,
  tokens_added: 0,
  cost_added: 0,
  provider_cache_read_tokens: 0,
};

export const REPORT = {
  attempts: { failed: 31, answered_later: 9, thoughts_dropped: 2, thoughts_refused: 0 },
  since: '2026-01-01T11:00:00.000Z',
  series_since: '2026-01-01T12:00:00.000Z',
  until: '2026-01-01T12:10:00.000Z',
  bucket_seconds: 10,
  totals: TOTALS,
  latency: { p50_ms: 830, p95_ms: 2000, p99_ms: null },
  series: [{ timestamp: '2026-01-01T12:00:10.000Z', ...TOTALS }],
  by_model: [{ name: HOSTILE, ...TOTALS }],
  by_provider: [{ name: 'messages', ...TOTALS, avg_latency_ms: 12 }],
  by_client: [],
  failures: [
    {
      status: 502,
      error_code: 'PROVIDER_003',
      error_kind: null,
      provider: HOSTILE,
      requests: 1,
      last_request_id: 'req_1',
    },
  ],
  lanes: {
    compression: { tokens_saved: 120_000, cost_saved_usd: 1.5 },
    cache_breakpoints: { requests: 0, read_tokens: 0, written_tokens: 0, cost_saved_usd: 0 },
    forgetting: { requests: 2, tokens_saved: 7000, cost_saved_usd: 0.25 },
    long_results: { requests: 0, tokens_saved: 0, cost_saved_usd: null },
    tools: { requests: 0, tokens_saved: 0, cost_saved_usd: null },
    response_cache: { requests: 0, cost_saved_usd: 0 },
    provider_cache: { read_tokens: 0, written_tokens: 0 },
  },
  injections: { requests: 0, chunks: 0, blocks: [] },
} as unknown as ReportJson;

export const LIVE = {
  health: {
    status: 'degraded',
    reasons: [HOSTILE],
    paused: false,
    version: '1.2.3',
    uptime_seconds: 65,
    compilation_mode: 'hybrid',
    budget: {
      enabled: true,
      left_percent: 12,
      spent_usd: 4.4,
      limits: { per_day_usd: 5, per_month_usd: null },
    },
    conversations: { thoughts_dropped: { prefix: 2 } },
  },
  session: { requests: 12 },
  running: 3,
  caches: { response_cache: null },
  alerts: [{ name: 'spend', text: HOSTILE }],
  classes: [{ class: 'log', tokens_before: 10, tokens_after: 5 }],
  providers: {
    messages: {
      stopped: null,
      breaker: { state: 'open', requests: 9, failures: 8, open_for_s: 12 },
      health: { state: 'healthy', reason: null, recovers_in_s: null },
      keys: [{ label: HOSTILE, state: 'cooling', wait_s: 3, picked: 1, limited: 2, refused: 0 }],
      needs_key: true,
      pace: null,
      tries: {
        ever: true,
        last_hour: 9,
        failed_last_hour: 8,
        failed_in_row: 0,
        answered_by_others_last_hour: 7,
      },
    },
  },
} as unknown as LiveState;

export const MODEL: Model = {
  ...firstModel({
    version: '1.2.3',
    program: 'svc',
    url: 'http://127.0.0.1:8766',
    nowMs: Date.UTC(2026, 0, 1, 12, 10),
  }),
  connection: 'live',
  live: LIVE,
  report: REPORT,
  requests: [
    row(9, {
      model_requested: HOSTILE,
      model_resolved: HOSTILE,
      outcome: 'error',
      status_code: 502,
      failed: true,
    }),
    row(8, { model_requested: 'モデル模型', model_resolved: 'モデル模型', cost: null }),
    ...Array.from({ length: 300 }, (_, at) => row(7 - at)),
  ],
  logLines: [
    JSON.stringify({ time: '2026-01-01T12:00:00Z', level: 'error', msg: HOSTILE }),
    HOSTILE,
  ],
};

export const PLAIN = createColors(false);

export const VIEWS: readonly (readonly [name: string, model: Model])[] = [
  ...TABS.map((tab) => [tab, { ...MODEL, tab }] as const),
  ['help', { ...MODEL, isHelp: true }],
  [
    'request',
    { ...MODEL, detail: { id: 'req_9', json: { request: MODEL.requests![0]!, trace: TRACE } } },
  ],
  [
    'request without a trace',
    { ...MODEL, detail: { id: 'req_9', json: { request: MODEL.requests![0]!, trace: null } } },
  ],
  ['request that failed to load', { ...MODEL, detail: { id: 'req_9', error: HOSTILE } }],
  ['lost', { ...MODEL, connection: 'lost', connectionProblem: ['svc is not running', HOSTILE] }],
  [
    'not running',
    {
      ...firstModel({ ...MODEL, url: null }),
      connection: 'lost',
      connectionProblem: ['svc is not running', '`svc start --background` starts it.'],
    },
  ],
  [
    'empty',
    {
      ...MODEL,
      requests: [],
      live: { ...LIVE, session: { ...LIVE.session, requests: 0 } },
      report: { ...REPORT, totals: { ...REPORT.totals, requests: 0 } },
    },
  ],
  ['connecting', firstModel(MODEL)],
];
