/** `/`, `/health` and the probes that clients send to see whether anyone is there. */
import type { Clock } from '../../engine/index.ts';
import type { AuditLog } from '../../stages/audit/log.ts';
import type { LedgerWriter } from '../../stages/ledger/writer-contract.ts';
import { roundedMs } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import { sessionJson } from '../../stages/ledger/report.ts';
import type { SessionWindow } from '../../stages/ledger/window.ts';
import type { SpendingGuard } from '../../stages/budget/guard.ts';
import type { ProviderStates } from '../../stages/providers/states.ts';
import type { LiveRouter } from '../../stages/route/rules-router.ts';
import type { Config } from '../config/config.ts';
import { providerReasons } from '../facts/provider-states.ts';
import { spendingJson } from '../facts/spending.ts';
import type { VaultFacts } from '../facts/vault-facts.ts';
import type { Route } from '../http/router.ts';

export interface StatusRouteOptions {
  readonly version: string;
  readonly healthBody: () => Promise<string>;
}

export interface HealthOptions {
  readonly version: string;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly startedMs: number;
  readonly ledger: LedgerWriter;
  readonly audit: Pick<AuditLog, 'stats'>;
  readonly window: SessionWindow;
  readonly paused: () => boolean;
  readonly draining: () => boolean;
  readonly vault: () => Promise<VaultFacts>;
  /** What is wrong with the files that svc keeps. */
  readonly files: () => Promise<readonly string[]>;
  readonly router: LiveRouter;
  readonly states: ProviderStates;
  readonly spending: SpendingGuard;
  /** Why providers that are code are not there. */
  readonly plugins: () => readonly string[];
  /** How often work after an answer has failed. */
  readonly afterwardsFaults: () => number;
}

/** How long one answer of `/health` serves everybody who asks. */
const HEALTH_CACHE_MS = 1000;

/** What `/health` answers whoever may know it. */
export type HealthJson = ReturnType<typeof health>;

/** Makes the body of `/health`, a new one at most once a second. */
export function createHealthBody(options: HealthOptions): () => Promise<string> {
  let cached: { untilMs: number; providers: string; body: Promise<string> } | undefined;
  return () => {
    const nowMs = options.clock.monotonicMs();
    // Whoever asks right after a provider has failed must not hear that all is well.
    const providers = providerReasons(options.states).join('\n');
    if (cached === undefined || nowMs >= cached.untilMs || cached.providers !== providers) {
      const body = Promise.all([options.vault(), options.files()]).then(([vault, files]) =>
        JSON.stringify(health(options, vault, files)),
      );
      cached = { untilMs: nowMs + HEALTH_CACHE_MS, providers, body };
    }
    return cached.body;
  };
}

export function statusRoutes({ version, healthBody }: StatusRouteOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/',
      audience: 'everybody',
      handle: () => Response.json(root(version)),
    },
    { method: 'GET', path: '/api/hello', handle: () => new Response(null, { status: 200 }) },
    {
      method: 'GET',
      path: '/health',
      audience: 'everybody',
      handle: async (_request, { verdict }) =>
        verdict === 'public'
          ? Response.json({ status: 'ok', version })
          : new Response(await healthBody(), { headers: { 'Content-Type': 'application/json' } }),
    },
  ];
}

function root(version: string) {
  return {
    name: 'svc',
    version,
    status: 'running',
    endpoints: { health: '/health', stats: '/stats', docs: '/docs', proxy: '/v1' },
    docs: '/docs',
  };
}

/** Why the proxy is less than well; empty when nothing is wrong. */
function reasons(
  { ledger, audit, draining, spending, states, plugins, afterwardsFaults }: HealthOptions,
  vault: VaultFacts,
  files: readonly string[],
): string[] {
  const list = [...files];
  const { trouble, dropped, replaced } = ledger.stats();
  if (trouble !== undefined) list.push(`ledger: ${trouble.message}`);
  if (replaced !== undefined) list.push(`ledger: ${replaced.message}`);
  if (dropped > 0) list.push(`ledger: ${dropped} rows were lost`);
  const { trouble: auditTrouble, dropped: unaudited } = audit.stats();
  if (auditTrouble !== undefined) list.push(`audit: ${auditTrouble.message}`);
  if (unaudited > 0) list.push(`audit: ${unaudited} events were lost`);
  const { enabled, unreadable } = spending.view();
  if (enabled && unreadable !== undefined)
    list.push(`budget: what was spent before the start is not known: ${unreadable}`);
  const faults = afterwardsFaults();
  if (faults > 0) list.push(`internal: work after an answer failed ${faults} times; see the log`);
  list.push(...plugins());
  if (vault.trouble !== undefined) list.push(vault.trouble);
  list.push(...providerReasons(states));
  if (draining()) list.push('the proxy is shutting down');
  return list;
}

/** The share of this session's input tokens that was not sent, 0 to 1; `null` before any input was measured. */
function compressionRatio({ savedTokens, inputTokens }: Totals): number | null {
  return inputTokens === 0 ? null : savedTokens / inputTokens;
}

/** Off and `strict` hold at once; any other mode for what begins now, for a change would cost the provider's cache. */
function appliesTo({ compression }: Config): 'all conversations' | 'new conversations' {
  const isOff = !compression.enabled || compression.mode === 'strict';
  return isOff ? 'all conversations' : 'new conversations';
}

function health(options: HealthOptions, vault: VaultFacts, files: readonly string[]) {
  const { window, clock, startedMs, version, paused } = options;
  const config = options.config();
  const totals = window.totals();
  const latency = window.latency();
  const wrong = reasons(options, vault, files);
  const router = options.router.view();
  const breakers = options.states.breakers();
  return {
    status: wrong.length > 0 ? 'degraded' : 'ok',
    reasons: wrong,
    version,
    uptime_seconds: Math.floor((clock.wallMs() - startedMs) / 1000),
    paused: paused(),
    compilation_mode: config.compression.enabled ? config.compression.mode : 'strict',
    compilation_mode_applies_to: appliesTo(config),
    vault_index: vault.index,
    router: {
      enabled: router.enabled,
      rules_loaded: router.loaded,
      smart_routing_hit_rate: router.hitRate,
    },
    capsule_available: config.vault.enabled && config.inject.capsules,
    budget: spendingJson(options.spending),
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
