/** `/`, `/health` and the probes by which clients check that a server is there. */
import { roundedMs } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import { sessionJson } from '../../stages/ledger/report.ts';
import type { Config } from '../config/config.ts';
import { createHomeFacts } from '../facts/home-facts.ts';
import { limitsJson } from '../facts/limits.ts';
import { providerReasons } from '../facts/provider-reasons.ts';
import { spendingJson } from '../facts/spending.ts';
import type { VaultFacts } from '../facts/vault-facts.ts';
import { pluginReasons } from '../generation/plugins.ts';
import { problemsOf } from '../words/problems.ts';
import { get, getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';
import type { RouteSources } from './sources.ts';

/** How long a `/health` response is reused for all callers. */
const HEALTH_CACHE_MS = 1000;

/** Body of `/health`, for callers allowed to see it. */
export type HealthJson = ReturnType<typeof health>;

/** Creates the producer of the `/health` body, which is rebuilt at most once a second. */
export function createHealthBody(sources: RouteSources): () => Promise<string> {
  const { services, generations } = sources;
  const files = createHomeFacts(services, generations.current.config);
  let cached: { untilMs: number; outer: string; body: Promise<string> } | undefined;
  return () => {
    const nowMs = services.clock.monotonicMs();
    // A caller that asks right after a provider failed must not be told that all is well.
    const outer = outerReasons(services).join('\n');
    if (cached === undefined || nowMs >= cached.untilMs || cached.outer !== outer) {
      const body = Promise.all([sources.vault(), files()]).then(([vault, problems]) =>
        JSON.stringify(health(sources, vault, problems)),
      );
      cached = { untilMs: nowMs + HEALTH_CACHE_MS, outer, body };
    }
    return cached.body;
  };
}

export function statusRoutes(version: string, healthBody: () => Promise<string>): Route[] {
  return [
    getJson('/', (request) => root(version, request.headers), 'everybody'),
    get('/api/hello', () => new Response(null, { status: 200 })),
    get(
      '/health',
      async (_request, { verdict }) =>
        verdict === 'public'
          ? Response.json({ status: 'ok', version })
          : new Response(await healthBody(), { headers: { 'Content-Type': 'application/json' } }),
      'everybody',
    ),
  ];
}

function root(version: string, headers: Headers) {
  // The gate admits only hosts of ours.
  const scheme = headers.get('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return {
    name: 'svc',
    version,
    status: 'running',
    endpoints: { health: '/health', stats: '/stats', docs: '/docs', proxy: '/v1' },
    docs: `${scheme}://${headers.get('host') ?? 'localhost'}/docs`,
  };
}

/** Returns the problems of providers, alerts, the budget and plans. */
function outerReasons({
  states,
  activeAlerts,
  spending,
  planLimits,
  clock,
}: RouteSources['services']): readonly string[] {
  const watched = {
    alerts: activeAlerts.list(),
    budget: spendingJson(spending),
    limits: limitsJson(planLimits).limits,
  };
  const problems = problemsOf(watched, clock.wallMs()).map(({ text }) => text);
  return [...providerReasons(states), ...problems];
}

/** Returns why the proxy is degraded; empty when nothing is wrong. */
function reasons(
  { services, generations, app }: RouteSources,
  vault: VaultFacts,
  files: readonly string[],
): string[] {
  const { ledgerFile, audit, spending, deferredWorkFaults, shared } = services;
  const list = [...files];
  const { problem, dropped, replaced } = ledgerFile.stats();
  if (problem !== undefined) list.push(`ledger: ${problem.message}`);
  if (replaced !== undefined) list.push(`ledger: ${replaced.message}`);
  if (dropped > 0) list.push(`ledger: ${dropped} rows were lost`);
  const { problem: auditProblem, dropped: unaudited } = audit.stats();
  if (auditProblem !== undefined) list.push(`audit: ${auditProblem.message}`);
  if (unaudited > 0) list.push(`audit: ${unaudited} events were lost`);
  const { enabled, unreadable } = spending.view();
  if (enabled && unreadable !== undefined)
    list.push(`budget: what was spent before the start is not known: ${unreadable}`);
  const { count } = deferredWorkFaults;
  if (count > 0) list.push(`internal: work after an answer failed ${count} times; see the log`);
  const compression = services.compressor.problem();
  if (compression !== undefined) list.push(compression);
  const link = shared?.link.view();
  if (link?.state === 'away')
    list.push(
      `redis: ${link.place} cannot be used: ${link.reason}; limits, cooldowns, breakers and cached answers are this proxy's own meanwhile`,
    );
  list.push(...pluginReasons(generations.current.custom));
  if (vault.problem !== undefined) list.push(vault.problem);
  list.push(...outerReasons(services));
  if (app().isDraining) list.push('the proxy is shutting down');
  return list;
}

/**
 * Returns the share of this session's input tokens that was not sent, 0 to 1; `null` before any
 * input was measured.
 */
function compressionRatio({ savedTokens, inputTokens }: Totals): number | null {
  return inputTokens === 0 ? null : savedTokens / inputTokens;
}

/**
 * Off and `strict` apply at once; any other mode to new conversations only, since a change would
 * cost the provider's cache.
 */
function appliesTo({ compression }: Config): 'all conversations' | 'new conversations' {
  const isOff = !compression.enabled || compression.mode === 'strict';
  return isOff ? 'all conversations' : 'new conversations';
}

/** If jobs are always waiting, more threads would help. */
function compressionThreads({ services }: RouteSources) {
  const { maxThreads: most, threads, threadsAtWork, jobsWaiting } = services.compressor.load();
  return { most, running: threads, at_work: threadsAtWork, jobs_waiting: jobsWaiting };
}

/** Reports the remembered conversations and the handling of their thinking blocks. */
function conversations({ services }: RouteSources) {
  const { isRemembering, figures, thoughts } = services.conversations;
  return {
    remember: isRemembering,
    remembered: figures.conversations,
    remembered_bytes: figures.chars,
    thoughts_refused: thoughts.refusals,
    thoughts_dropped: Object.fromEntries(thoughts.dropped),
  };
}

function health(sources: RouteSources, vault: VaultFacts, files: readonly string[]) {
  const { version, services, app } = sources;
  const { window, clock, startedMs } = services;
  const { config } = sources.generations.current;
  const totals = window.totals();
  const latency = window.latency();
  const problems = reasons(sources, vault, files);
  const router = services.router.view();
  const breakers = services.states.breakers();
  return {
    status: problems.length > 0 ? 'degraded' : 'ok',
    reasons: problems,
    version,
    uptime_seconds: Math.floor((clock.wallMs() - startedMs) / 1000),
    paused: app().paused,
    compilation_mode: config.compression.enabled ? config.compression.mode : 'strict',
    compilation_mode_applies_to: appliesTo(config),
    compression_threads: compressionThreads(sources),
    conversations: conversations(sources),
    vault_index: vault.index,
    router: {
      enabled: router.enabled,
      rules_loaded: router.loaded,
      smart_routing_hit_rate: router.hitRate,
    },
    capsule_available: config.vault.enabled && config.inject.capsules,
    shared: services.shared?.link.view() ?? null,
    budget: spendingJson(services.spending),
    circuit_breakers: {
      ...breakers.providers,
      any_open: breakers.anyOpen,
      providers: breakers.providers,
    },
    requests_total: totals.requests,
    requests_errors: totals.errors,
    compression_ratio_avg: compressionRatio(totals),
    stats: sessionJson(window),
    latency: {
      p50_latency_ms: roundedMs(latency.p50Ms),
      p99_latency_ms: roundedMs(latency.p99Ms),
      samples: latency.samples,
    },
  };
}
