/** Fields shared by several responses of the proxy: figures, sums, and parts of a request. */
import { FIGURES } from '../../stages/ledger/columns.ts';
import { MISS_CAUSES } from '../../stages/model/cached-turn.ts';
import {
  about,
  flag,
  list,
  moment,
  nullable,
  number,
  object,
  oneOf,
  text,
  whole,
} from './schema.ts';

/** Figures of one request, and sums. */
const figuresOfOne = Object.fromEntries(
  FIGURES.map(({ name, about: words }) => [name, about(nullable(whole), words)]),
);
const figureSums = Object.fromEntries(
  FIGURES.map(({ name, about: words }) => [name, about(whole, words)]),
);

export const usd = about(number, 'US dollars');
export const ms = about(number, 'Milliseconds');

export const net = {
  tokens_added: about(whole, 'Input tokens added from the vault'),
  cost_added: nullable(usd),
  net_tokens_saved: about({ type: 'integer' }, 'Saved less added'),
  net_cost_saved: nullable(usd),
};

export const rowNet = {
  tokens_added: nullable(whole),
  cost_added: nullable(usd),
  net_tokens_saved: nullable({ type: 'integer' }),
  net_cost_saved: nullable(usd),
};

export const sessionSums = {
  requests: whole,
  input_tokens: about(whole, 'As clients sent them'),
  sent_input_tokens: about(whole, 'As sent upstream'),
  saved_tokens: whole,
  output_tokens: whole,
  errors: whole,
  cache_hits: about(whole, 'Responses from the cache'),
  cost: nullable(usd),
  unpriced: about(whole, 'Requests whose model has no known price'),
  cost_saved: nullable(usd),
};

/** Whole and unrounded, so that they can be added. */
export const ledgerSums = {
  type: 'object',
  additionalProperties: number,
  properties: { requests: whole },
  required: ['requests'],
  description: 'Sums by name; absent ones are 0. Money is in nano-dollars.',
};

export const vaultIndex = object({ available: flag, blocks: whole, path: text });

export const rowBreakpoints = object({
  set: about(whole, 'Cache markers that svc set'),
  read_tokens: nullable(whole),
  written_tokens: nullable(whole),
  cost_saved: nullable(usd),
});

export const cacheMiss = {
  cause: oneOf(...MISS_CAUSES),
  detail: about(nullable(text), 'What differed from the previous turn'),
  missed_tokens: nullable(whole),
  cost: about(nullable(usd), 'What reading these tokens from the cache would have saved'),
};

export const recentFields = {
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

export const injection = {
  cache_breakpoints: rowBreakpoints,
  cache_miss: object(cacheMiss),
  key: about(text, 'Label of its proxy key'),
  project: about(text, 'Name of its project'),
  thoughts_refused: about(
    flag,
    'The provider refused thinking blocks that did not match, and the request was resent',
  ),
  thoughts_dropped: about(
    whole,
    'Thinking blocks that the provider reports as not shown to the model',
  ),
  vault_injection: object({
    chunks_injected: whole,
    tokens_injected: nullable(whole),
    tokens_added: nullable(whole),
    cost_added: nullable(usd),
    top_chunks: list(text),
  }),
};

/** A request with all fields of its ledger row. */
export const requestFields = {
  ...recentFields,
  endpoint: text,
  model_requested: nullable(text),
  model_resolved: about(nullable(text), 'The model that answered'),
  stream: flag,
  mode: nullable(text),
  client: nullable(text),
  session_id: nullable(text),
  skill: nullable(text),
  node: about(nullable(text), 'Name of the machine, if several share a ledger'),
  failed: flag,
  error_kind: nullable(text),
  error_code: nullable(text),
  attempts: whole,
  ttfb_ms: nullable(ms),
  response_cache_hit: flag,
  usage_estimated: flag,
  provider_cache_read_tokens: nullable(whole),
  provider_cache_creation_tokens: nullable(whole),
  ...figuresOfOne,
};

export const speedCache = object({
  hits: whole,
  misses: whole,
  hit_ratio: nullable(number),
  entries: whole,
  bytes: whole,
});

export const promptCache = {
  read_tokens: whole,
  creation_tokens: whole,
  hit_ratio: nullable(number),
};

export const savingSums = object({
  requests: whole,
  tokens_saved: whole,
  cost_saved_usd: nullable(usd),
  tokens_added: whole,
  cost_added_usd: nullable(usd),
  net_tokens_saved: { type: 'integer' },
  net_cost_saved_usd: nullable(usd),
});

export const breakpoints = {
  requests: about(whole, 'Requests in which svc set cache markers'),
  read_tokens: whole,
  written_tokens: whole,
  cost_saved_usd: nullable(usd),
};

/** A lane of compression, with the requests that used it. */
const lane = (requests: string) =>
  object({
    requests: about(whole, requests),
    tokens_saved: whole,
    cost_saved_usd: nullable(usd),
  });

export const lanes = object({
  compression: object({ tokens_saved: whole, cost_saved_usd: nullable(usd) }),
  cache_breakpoints: object(breakpoints),
  forgetting: lane('Requests from which old results of tools were left out'),
  long_results: lane('Requests with long results sent in parts'),
  tools: lane('Requests with trimmed tool definitions'),
  response_cache: object({ requests: whole, cost_saved_usd: nullable(usd) }),
  provider_cache: about(
    object({ read_tokens: whole, written_tokens: whole }),
    'Cached without a request by svc: credited to no source',
  ),
});

export const noRequests = object({ error: oneOf('no_requests'), message: text });

export const stored = {
  block_id: text,
  tokens: whole,
  stored: about(flag, 'False if the block existed already'),
};

export const totals = {
  ...sessionSums,
  ...net,
  avg_latency_ms: nullable(ms),
  saved_percent: nullable(number),
  cost_without: about(nullable(usd), 'What would have been paid without svc'),
  provider_cache_read_tokens: whole,
  provider_cache_creation_tokens: whole,
  ...figureSums,
};

export const percentiles = { p50_ms: nullable(ms), p95_ms: nullable(ms), p99_ms: nullable(ms) };
export const groups = list(object({ name: nullable(text), ...totals }), 50);

/** Fields of one tool, or of one MCP server. */
export const toolFields = {
  calls: about(whole, 'Results that were new in their request'),
  failed_calls: whole,
  result_tokens: about(whole, 'Tokens of these results, as clients sent them'),
  sent_result_tokens: about(whole, 'Tokens of these results, as sent upstream'),
  definitions: about(whole, 'Tokens of definitions in requests'),
  definition_tokens: whole,
  definition_cost: nullable(usd),
};
