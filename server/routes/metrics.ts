/** `/metrics` for Prometheus and `/metrics/dashboard` as JSON (spec §2.9, §2.10). */
import { SvcError } from '../../engine/index.ts';
import { FIGURES } from '../../stages/ledger/columns.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import { knownCost, knownCostSaved, promptCacheRatio, toUsd } from '../../stages/ledger/figures.ts';
import type { HistogramView } from '../../stages/ledger/histogram.ts';
import type { Metrics } from '../../stages/ledger/metrics.ts';
import { dashboardJson } from '../../stages/ledger/report.ts';
import { knownDefinitionCost } from '../../stages/ledger/tools/tool-totals.ts';
import type { ToolTotals } from '../../stages/ledger/tools/tool-totals.ts';
import { mcpServerOf } from '../../stages/model/tool-use.ts';
import type { Limit, PlanLimits } from '../../stages/limits/plan-limits.ts';
import type { ProviderStates } from '../../stages/providers/states.ts';
import { metricsText, single } from '../facts/metrics-text.ts';
import type { Family } from '../facts/metrics-text.ts';
import { get } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';
/** Plan windows exported at most. */
const MAX_PLAN_WINDOWS = 100;
/** How long a `/metrics/dashboard` response is reused for all callers. */
const DASHBOARD_CACHE_MS = 1000;

export function metricsRoutes(sources: RouteSources): Route[] {
  const { clock, metrics } = sources.services;
  let cached: { untilMs: number; body: Promise<string> } | undefined;

  function dashboardBody(): Promise<string> {
    const nowMs = clock.monotonicMs();
    if (cached === undefined || nowMs >= cached.untilMs) {
      const body = dashboard(sources);
      cached = { untilMs: nowMs + DASHBOARD_CACHE_MS, body };
      body.catch(() => (cached = undefined));
    }
    return cached.body;
  }

  return [
    get('/metrics', () => {
      if (!metrics.enabled) throw isOff();
      return new Response(metricsText(families(sources)), {
        headers: { 'Content-Type': PROMETHEUS },
      });
    }),
    get('/metrics/dashboard', async () => {
      if (!metrics.enabled) throw isOff();
      return new Response(await dashboardBody(), {
        headers: { 'Content-Type': 'application/json' },
      });
    }),
  ];
}

function isOff(): SvcError {
  return new SvcError('not_found', 'Metrics are not collected: metrics.enabled is false', {
    cure: 'Set metrics.enabled to true and reload the configuration.',
  });
}

async function dashboard({ services, ask }: RouteSources): Promise<string> {
  const { clock, startedMs, metrics, router } = services;
  const nowMs = clock.wallMs();
  return JSON.stringify(
    dashboardJson({
      nowMs,
      uptimeSeconds: (nowMs - startedMs) / 1000,
      window: metrics.window(),
      routingHitRate: router.view().hitRate,
      day: await ask((reader, queries) => queries.lastDayReport(reader, nowMs)),
    }),
  );
}

function families({ version, services, app }: RouteSources): Family[] {
  const { clock, startedMs, window, ledgerFile, shared } = services;
  const link = shared?.link.view();
  const totals = window.totals();
  const threads = services.compressor.load();
  const counter = (name: string, help: string, value: number | null) =>
    single('counter', `svc_${name}`, help, value);
  const gauge = (name: string, help: string, value: number | null) =>
    single('gauge', `svc_${name}`, help, value);
  return [
    counter('requests_total', 'Proxied requests that have finished.', totals.requests),
    counter('tokens_input_total', 'Input tokens as clients sent them.', totals.inputTokens),
    counter('tokens_saved_total', 'Input tokens that compression removed.', totals.savedTokens),
    counter('tokens_sent_total', 'Input tokens as they went upstream.', totals.sentInputTokens),
    counter('tokens_added_total', 'Input tokens added from the vault.', totals.addedTokens),
    counter('tokens_output_total', 'Output tokens.', totals.outputTokens),
    counter(
      'tokens_cache_read_total',
      'Tokens that providers read from their own prompt caches.',
      totals.cacheReadTokens,
    ),
    counter(
      'tokens_cache_creation_total',
      'Tokens that providers wrote to their own prompt caches.',
      totals.cacheWriteTokens,
    ),
    counter('errors_total', 'Requests that failed or broke off.', totals.errors),
    counter('cancelled_total', 'Requests whose client disconnected.', totals.cancelled),
    counter('streams_total', 'Streamed requests.', totals.streamed),
    counter('response_cache_hits_total', 'Answers from the response cache.', totals.cacheHits),
    counter('cost_usd_total', 'US dollars spent, as far as known.', toUsd(knownCost(totals))),
    counter(
      'cost_saved_usd_total',
      'US dollars that svc saved in all lanes, as far as known.',
      toUsd(knownCostSaved(totals)),
    ),
    counter(
      'requests_unpriced_total',
      'Requests whose tokens are known and whose price is not.',
      totals.unpriced,
    ),
    counter(
      'ledger_rows_dropped_total',
      'Rows that could not be written to the ledger.',
      ledgerFile.stats().dropped,
    ),
    gauge(
      'shared_up',
      'Whether Redis can be used; absent where no state is shared.',
      link === undefined ? null : Number(link.state === 'up'),
    ),
    counter('shared_asked_total', 'Requests to Redis.', link?.asked ?? null),
    counter(
      'shared_unanswered_total',
      'Requests to Redis without a response in time.',
      link?.unanswered ?? null,
    ),
    gauge('uptime_seconds', 'Seconds since the start.', (clock.wallMs() - startedMs) / 1000),
    gauge('requests_running', 'Proxied requests in progress.', app().running.size),
    counter(
      'thoughts_refused_total',
      'Requests that a provider refused because thinking blocks did not match what precedes them.',
      services.conversations.thoughts.refusals,
    ),
    counter(
      'thoughts_dropped_total',
      'Thinking blocks that providers report as dropped.',
      [...services.conversations.thoughts.dropped.values()].reduce((sum, count) => sum + count, 0),
    ),
    gauge(
      'conversations_remembered',
      'Conversations with remembered state.',
      services.conversations.figures.conversations,
    ),
    gauge('compression_threads', 'Threads that are ready to compress.', threads.threads),
    gauge('compression_threads_at_work', 'Threads that are compressing.', threads.threadsAtWork),
    gauge(
      'compression_jobs_waiting',
      'Requests that wait for a thread to compress them.',
      threads.jobsWaiting,
    ),
    {
      name: 'svc_build_info',
      help: 'The version, as a label.',
      type: 'gauge',
      series: [{ labels: { version }, value: 1 }],
    },
    ...FIGURES.map(({ field, name, about }) =>
      counter(`${name}_total`, `${about}.`, totals[field]),
    ),
    ...groupFamilies('model', window.byModel()),
    ...groupFamilies('provider', window.byProvider()),
    ...groupFamilies('key', window.byKey()),
    ...groupFamilies('project', window.byProject()),
    ...ofTools(window.byTool()),
    ...providerStates(services.states),
    ...planWindows(services.planLimits),
    ...durations(services.metrics),
    single('gauge', 'process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
    single('counter', 'process_cpu_seconds_total', 'Processor time of all threads.', cpuSeconds()),
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

type GroupSeries = readonly (readonly [string, Totals])[];

/** Returns the sums per model, provider, key or project; the session bounds their number. */
function groupFamilies(
  label: 'model' | 'provider' | 'key' | 'project',
  groups: ReadonlyMap<string, Totals>,
): Family[] {
  const all: GroupSeries = [...groups];
  const family =
    (type: 'counter' | 'gauge') =>
    (name: string, help: string, value: (totals: Totals) => number | null): Family => ({
      name: `svc_${label}_${name}`,
      help,
      type,
      series: all.map(([key, totals]) => ({ labels: { [label]: key }, value: value(totals) })),
    });
  const counter = family('counter');
  return [
    counter('requests_total', `Finished requests by ${label}.`, (t) => t.requests),
    counter('errors_total', `Failed requests by ${label}.`, (t) => t.errors),
    counter('tokens_input_total', `Input tokens of clients by ${label}.`, (t) => t.inputTokens),
    counter('tokens_saved_total', `Saved input tokens by ${label}.`, (t) => t.savedTokens),
    counter('tokens_output_total', `Output tokens by ${label}.`, (t) => t.outputTokens),
    counter('cost_usd_total', `US dollars by ${label}.`, (t) => toUsd(knownCost(t))),
    family('gauge')(
      'prompt_cache_hit_ratio',
      `Share of input tokens that was read from the provider's cache, by ${label}.`,
      promptCacheRatio,
    ),
  ];
}

/**
 * Returns the sums per tool, labelled with its MCP server if it has one; the session bounds their
 * number.
 */
function ofTools(tools: ReadonlyMap<string, ToolTotals>): Family[] {
  const all = [...tools].map(([tool, totals]) => {
    const server = mcpServerOf(tool);
    return { labels: { tool, ...(server !== null && { server }) }, totals };
  });
  const counter = (
    name: string,
    help: string,
    value: (totals: ToolTotals) => number | null,
  ): Family => ({
    name: `svc_tool_${name}_total`,
    help,
    type: 'counter',
    series: all.map(({ labels, totals }) => ({ labels, value: value(totals) })),
  });
  return [
    counter('calls', 'Results that were new in their requests.', (t) => t.calls),
    counter('failed_calls', 'New results that report a failed call.', (t) => t.failedCalls),
    counter('result_tokens', 'Tokens of new results as clients sent them.', (t) => t.resultTokens),
    counter('sent_result_tokens', 'The same as they went upstream.', (t) => t.sentResultTokens),
    counter('definition_tokens', 'Input tokens of its definition.', (t) =>
      Math.round(t.definitionTokens),
    ),
    counter('definition_cost_usd', 'US dollars for its definition, as far as known.', (t) =>
      toUsd(knownDefinitionCost(t)),
    ),
  ];
}

function providerStates(states: ProviderStates): Family[] {
  const breakers = Object.entries(states.breakers().providers);
  const healthy = [...states.view()];
  return [
    {
      name: 'svc_provider_circuit_open',
      help: 'Whether the circuit breaker is open.',
      type: 'gauge',
      series: breakers.map(([provider, { open }]) => ({
        labels: { provider },
        value: open ? 1 : 0,
      })),
    },
    {
      name: 'svc_provider_healthy',
      help: 'Whether the provider is tried first.',
      type: 'gauge',
      series: healthy.map(([provider, { health }]) => ({
        labels: { provider },
        value: health.state === 'healthy' ? 1 : 0,
      })),
    },
  ];
}

/** Returns the plan windows, fullest first: clients can send any number of credentials. */
function planWindows(planLimits: PlanLimits): Family[] {
  const plans = planLimits.list().filter(({ kind }) => kind === 'plan');
  const family = (
    name: string,
    help: string,
    value: (limit: Limit) => number | undefined,
  ): Family => ({
    name: `svc_plan_${name}`,
    help,
    type: 'gauge',
    series: plans.slice(0, MAX_PLAN_WINDOWS).map((limit) => ({
      labels: { provider: limit.provider, key: limit.key, window: limit.name },
      value: value(limit) ?? null,
    })),
  });
  return [
    family('used_ratio', 'Share of a plan’s window that is used.', ({ used }) => used),
    family(
      'resets_timestamp_seconds',
      'When the window resets.',
      ({ resetsAtMs }) => resetsAtMs && resetsAtMs / 1000,
    ),
    family(
      'used_up_timestamp_seconds',
      'When the window is used up at the current pace; absent if it lasts.',
      ({ usedUpAtMs }) => usedUpAtMs && usedUpAtMs / 1000,
    ),
    family(
      'spared_tokens',
      'Tokens that were not sent since the window began.',
      ({ spared }) => spared.tokens,
    ),
    family(
      'spared_requests',
      'Requests that were answered from the response cache since the window began.',
      ({ spared }) => spared.requests,
    ),
  ];
}

function durations(metrics: Metrics): Family[] {
  const { byProvider, byModel, firstByteByProvider, byStage } = metrics.durations();
  const family = (
    name: string,
    help: string,
    label: string,
    views: readonly (readonly [string, HistogramView])[],
  ): Family => ({
    name,
    help,
    type: 'histogram',
    series: views.map(([key, view]) => ({ labels: { [label]: key }, view })),
  });
  return [
    family(
      'svc_request_duration_seconds',
      'From the first byte of the request to the end of the answer.',
      'provider',
      byProvider,
    ),
    family('svc_model_request_duration_seconds', 'The same, by model.', 'model', byModel),
    family(
      'svc_first_byte_seconds',
      'From the first byte of the request to the first byte of the answer.',
      'provider',
      firstByteByProvider,
    ),
    family('svc_stage_duration_seconds', 'Time inside a stage.', 'stage', byStage),
  ];
}
