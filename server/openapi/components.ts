/** The schemas of the proxy's own responses. A test checks real responses against them. */
import {
  usd,
  ms,
  net,
  rowNet,
  sessionSums,
  vaultIndex,
  rowBreakpoints,
  cacheMiss,
  noRequests,
  stored,
} from './fields.ts';
import { MISS_CAUSES } from '../../stages/model/cached-turn.ts';
import { dashboardSchemas } from './dashboard.ts';
import { figureSchemas } from './figures.ts';
import { proxiedSchemas } from './proxied.ts';
import {
  text,
  flag,
  whole,
  number,
  moment,
  nullable,
  oneOf,
  list,
  object,
  open,
  byName,
  about,
  ref,
} from './schema.ts';
import type { Schema } from './schema.ts';

const graphNode = {
  node: about(text, 'Name, as in traces'),
  plugin: about(nullable(text), 'Who inserted it; null for a built-in stage'),
  about: about(list(text), 'What it adds, one phrase each'),
};

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
        compression_threads: object({
          most: about(whole, '`compression.workers`'),
          running: whole,
          at_work: whole,
          jobs_waiting: about(whole, 'Requests waiting for a thread'),
        }),
        conversations: object({
          remember: about(flag, '`compression.remember`'),
          remembered: about(whole, 'Conversations with remembered state'),
          remembered_bytes: whole,
          thoughts_refused: about(
            whole,
            'Requests since the start that a provider refused because thinking blocks did not match what precedes them; each was resent without those blocks',
          ),
          thoughts_dropped: about(
            byName(whole),
            'Thinking blocks since the start that providers report as dropped, by reason',
          ),
        }),
        vault_index: vaultIndex,
        router: object({
          enabled: flag,
          rules_loaded: whole,
          smart_routing_hit_rate: nullable(number),
        }),
        capsule_available: flag,
        shared: about(
          nullable(
            object({
              state: oneOf('up', 'away'),
              place: about(text, 'Host and port of Redis'),
              reason: nullable(about(text, 'Why it cannot be used')),
              asked: whole,
              unanswered: about(whole, 'Requests that were refused or got no response in time'),
            }),
          ),
          'State shared with other proxies through `shared.redis_url`; null if there is none',
        ),
        budget: object({
          enabled: flag,
          total_tokens: about(whole, 'Tokens a day; 0 means no limit'),
          limits: object({
            per_request_usd: nullable(usd),
            per_session_usd: nullable(usd),
            per_day_usd: nullable(usd),
            per_month_usd: nullable(usd),
            tokens_per_day: nullable(whole),
          }),
          day: about(text, 'The current UTC day'),
          spent_usd: nullable(usd),
          month: about(text, 'The current UTC month'),
          spent_month_usd: nullable(usd),
          held_usd: about(usd, 'Estimated for requests in progress'),
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
    'Callers without access get only status and version',
  ),
  ...figureSchemas,
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
            name: about(
              text,
              'As `node`, but `compaction` for compress, `vault_inject` for inject and `upstream_forward` for forward',
            ),
            node: about(text, 'Its name in `svc graph`'),
            within: about(nullable(text), 'The stage whose time includes this one'),
            duration_ms: ms,
            first_in_ms: nullable(ms),
            first_out_ms: nullable(ms),
            last_out_ms: nullable(ms),
            frames: whole,
          },
          ['name', 'node', 'within', 'duration_ms', 'frames'],
        ),
      ),
      attempts: list(
        object(
          {
            provider: text,
            model: nullable(text),
            key: about(nullable(text), 'Where the key came from, never the key'),
            started_ms: ms,
            head_ms: nullable(ms),
            status: nullable(whole),
            failure: nullable(text),
          },
          { words: about(text, "The message of the provider's own error") },
        ),
      ),
    },
    {
      dropped_thoughts: about(
        text,
        'Present if the provider reports that it dropped thinking blocks of the request, as in `2 thoughts dropped: prefix`',
      ),
      cache_miss: object(
        {
          ...cacheMiss,
          compared_with: about(nullable(text), 'Id of the previous request'),
        },
        {
          compared_cause: about(
            oneOf(...MISS_CAUSES),
            'The cause found by svc, if the provider names another',
          ),
        },
      ),
      usage_corrected: about(flag, 'True if the provider sent invalid token counts'),
      unpriced: about(list(text), 'Parts without a price, which leave the request without a cost'),
      capture: about(text, 'State of its capture: `kept`, or `dropped: …`'),
    },
  ),
  Limits: object({
    limits: about(
      list(
        object({
          provider: text,
          key: about(text, 'Label of a configured key, or `client` and a hash of the credential'),
          kind: oneOf('plan', 'rate'),
          window: about(text, 'Such as `5h`, `7d`, `requests`'),
          used: about(number, 'Share of 1; a provider may let a plan go beyond it'),
          status: about(nullable(text), 'The provider’s own word'),
          resets_at: nullable(text),
          used_per_hour: about(
            nullable(number),
            'At the pace of the last two fifths of the window, ignoring pauses',
          ),
          used_up_at: about(nullable(text), 'At that pace; null if it resets before'),
          spared_tokens: about(
            number,
            'Tokens that svc left out, or answered from its own cache, since the window began',
          ),
          spared_requests: about(number, 'Requests that its own cache answered, likewise'),
          seen_at: nullable(text),
        }),
      ),
      'Plans first, then by use, fullest first',
    ),
  }),
  Graph: object({
    request: about(
      list(
        object({
          ...graphNode,
          answers: about(flag, 'True if it may respond in place of later stages'),
          web_stream: about(flag, 'True for a stage with a stream of its own'),
          within: about(
            list(object(graphNode)),
            'Nodes inside it, such as providers that are code',
          ),
        }),
      ),
      'In the order that a request passes through them',
    ),
    answers: list(
      object({
        from: text,
        segments: list(
          object({
            form: about(oneOf('fused', 'stream'), '`fused`: its nodes run as one'),
            nodes: list(object({ node: text, plugin: nullable(text) })),
          }),
        ),
      }),
    ),
    edges: list(object({ from: text, to: text, on: oneOf('request', 'answer') })),
    plugins: list(object({ name: text, module: text })),
  }),
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
  McpMessage: open({ jsonrpc: oneOf('2.0'), method: text }, ['jsonrpc']),
  VaultHits: object({
    hits: list(
      object({
        block_id: text,
        source_path: text,
        start_line: nullable(whole),
        end_line: nullable(whole),
        score: number,
        content: text,
      }),
      20,
    ),
  }),
  Why: object({
    request_id: text,
    outcome: text,
    providers: about(list(text), 'Each attempted provider in order, with the result'),
    cost: text,
    cache: nullable(about(text, 'Why the provider’s prompt cache was missed; null if it was not')),
    savings: text,
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
  ...dashboardSchemas,
  ...proxiedSchemas,
};
