/**
 * The schemas of sums and single requests: `/stats`, `/recent`, `/savings`, `/ledger/sums`,
 * `/cache-stats`.
 */
import {
  usd,
  ms,
  net,
  rowNet,
  sessionSums,
  ledgerSums,
  vaultIndex,
  recentFields,
  injection,
  speedCache,
  promptCache,
  savingSums,
  breakpoints,
  lanes,
  toolFields,
} from './fields.ts';
import { MISS_CAUSES } from '../../stages/model/cached-turn.ts';
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
  byName,
  about,
  ref,
} from './schema.ts';
import type { Schema } from './schema.ts';

const todaySums = object({ ...sessionSums, ...net, avg_latency_ms: nullable(ms) });
const namedSums = object({
  requests: whole,
  input_tokens: whole,
  saved_tokens: whole,
  output_tokens: whole,
  cost: nullable(usd),
  unpriced: whole,
  ...net,
});
const toolSums = object(toolFields);
const ledgerParts = {
  by_model: list(object({ model: nullable(text), sums: ledgerSums })),
  by_day: list(object({ date: about(text, 'A UTC day'), sums: ledgerSums })),
};

/** Schemas by their names in the document. */
export const figureSchemas: Readonly<Record<string, Schema>> = {
  Stats: object(
    {
      session: object({ ...sessionSums, ...net, start_time: about(number, 'Epoch seconds') }),
      compilation_mode: oneOf('strict', 'hybrid', 'aggressive'),
      vault_index: vaultIndex,
      router: object({ enabled: flag }),
      today: todaySums,
      by_model: byName(namedSums),
      by_key: about(
        byName(namedSums),
        'By proxy key label, for requests with a key; beyond a hundred under `(other)`',
      ),
      by_project: about(byName(namedSums), 'Likewise by project, if known'),
      by_tool: about(byName(toolSums), 'By tool; past two hundred under `(other)`'),
      by_mcp_server: about(byName(toolSums), 'By MCP server, of tools named `mcp__server__tool`'),
      recent: list(ref('RecentRequest'), 50),
    },
    { today_of_node: about(todaySums, 'For this machine only, if others share its ledger') },
  ),
  RecentRequest: object(recentFields, injection),
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
      'Everything that providers read from their prompt caches; `lanes` says which part svc requested',
    ),
  }),
  CacheMisses: object({
    requests: about(whole, 'Requests with known prompt cache reads'),
    missed_requests: whole,
    input_tokens: whole,
    missed_tokens: about(whole, 'Input tokens that the previous turn had cached'),
    cost_usd: usd,
    cost_missed_usd: about(usd, 'The part of the cost that cache reads would have saved'),
    share_of_cost: nullable(number),
    unpriced: about(whole, 'Missed requests without a known price'),
    causes: list(
      object({
        cause: oneOf(...MISS_CAUSES),
        requests: whole,
        missed_tokens: whole,
        cost_missed_usd: usd,
        unpriced: whole,
        advice: about(text, 'What to do about it'),
      }),
      MISS_CAUSES.length,
    ),
  }),
  LedgerSums: object(
    {
      node: about(nullable(text), 'The name of the machine'),
      ledger: about(nullable(text), 'Identifies this ledger, whatever its address'),
      ...ledgerParts,
    },
    {
      by_node: about(
        list(object({ node: nullable(text), ...ledgerParts })),
        'The machines that share the ledger, if it is in Postgres',
      ),
    },
  ),
  CacheStats: object({
    response_cache: nullable(speedCache),
    compression_cache: speedCache,
    prompt_cache: object({
      ...promptCache,
      breakpoints: object(breakpoints),
      providers: byName(object(promptCache)),
    }),
  }),
};
