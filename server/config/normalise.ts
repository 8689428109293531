/** From settled values to the configuration: units, derived defaults, frozen. */
import { isAbsolute, join } from 'node:path';
import type { AlertMetric } from '../alerts/metrics.ts';
import type { Config, ProviderConfig, ProviderKey, ProviderKind } from './config.ts';
import { sourceRank } from './fault.ts';
import type { WrittenAlert } from './slices/alerts.ts';
import type { Values } from './names.ts';
import { PUBLIC_BASE_URLS } from './slices/providers.ts';

const MEBIBYTE = 1024 * 1024;

/** What `/v1*` may send when the user set no size: agent turns with images need it. */
const PROXIED_BODY_BYTES = 32 * MEBIBYTE;

/** Builds the configuration; `home` is the absolute home folder. Values must be valid. */
export function normalise(values: Values, home: string): Config {
  const { get } = values;
  return deepFreeze({
    home,
    server: {
      host: get('server.host').replace(/^\[(.*)\]$/, '$1'),
      port: get('server.port'),
      wsPort: get('server.ws_port'),
      allowedHosts: get('server.allowed_hosts').map((host) => host.toLowerCase()),
    },
    outbound: {
      httpsProxy: get('outbound.https_proxy'),
      httpProxy: get('outbound.http_proxy'),
      noProxy: get('outbound.no_proxy'),
    },
    ...rewriting(values, home),
    ...upstreams(values),
    ...storage(values, home),
    ...observing(values, home),
    ...safety(values),
  });
}

/** The folder of the vault index: variable, then `vault.root` with its file, then the key. */
export function vaultIndexPath(values: Values, home: string): string {
  const named = values.from('advanced.vault_index_path');
  const root = values.get('vault.root');
  const file = values.get('vault.index_file');
  const direct = values.get('advanced.vault_index_path');
  const outranked = root !== null || file !== null;
  if (direct !== null && (!outranked || sourceRank(named.source) > sourceRank('file')))
    return direct;
  const name = file ?? '.index';
  return isAbsolute(name) ? name : join(root ?? home, name);
}

function rewriting(
  { get, ...rest }: Values,
  home: string,
): Pick<Config, 'compression' | 'inject' | 'vault'> {
  return {
    compression: {
      enabled: get('compression.enabled'),
      mode: get('compression.mode'),
      maxChars: get('compression.max_chars'),
      thresholdTokens: get('compression.threshold_tokens'),
      cacheEntries: get('compression.cache_size'),
      maxTimeMs: get('compression.max_time_ms') || null,
      logBudgetTokens: get('compression.log_budget_tokens'),
      userProse: get('compression.user_prose'),
      subscriptionTraffic: get('compression.subscription_traffic'),
      http100Keepalive: get('compression.http100_keepalive'),
    },
    inject: { cacheBreakpoints: get('inject.cache_breakpoints') },
    vault: {
      enabled: get('vault.enabled'),
      indexPath: vaultIndexPath({ get, ...rest }, home),
      backend: get('vault.backend'),
      injectBudgetTokens: get('vault.inject_budget'),
      injectTopK: get('vault.inject_top_k'),
      injectMinScore: get('vault.inject_min_score'),
      capsules: get('compression.enabled') && get('vault.capsules'),
      capsuleMinChars: get('vault.capsule_min_chars'),
    },
  };
}

function upstreams(
  values: Values,
): Pick<Config, 'providers' | 'plugins' | 'customProviders' | 'keys' | 'routing'> {
  const { get, names } = values;
  const fallback = get('routing.fallback');
  return {
    providers: byName(names('providers'), (name) => provider(values, name)),
    customProviders: get('custom_providers'),
    plugins: get('plugins'),
    keys: {
      rotation: get('keys.rotation'),
      cooldown429Ms: get('keys.cooldown_429_seconds') * 1000,
      cooldown401Ms: get('keys.cooldown_401_seconds') * 1000,
    },
    routing: {
      enabled: get('routing.enabled'),
      primary: get('routing.primary'),
      fallback: typeof fallback === 'string' ? [fallback] : fallback,
      models: byName(names('models'), (alias) => ({
        provider: get('models.<alias>.provider', alias),
        stream: get('models.<alias>.stream', alias),
      })),
      rpm: byName(names('rate_limiting'), (name) => get('rate_limiting.<provider>.rpm', name)),
    },
  };
}

function provider({ get, from }: Values, name: string): ProviderConfig {
  // A name without a kind is one of the built-in ones; anything else was refused before.
  const kind = get('providers.<name>.kind', name) ?? (name as ProviderKind);
  const baseUrl = get('providers.<name>.base_url', name) ?? PUBLIC_BASE_URLS[kind];
  const timeoutS =
    get('providers.<name>.timeout_seconds', name) ?? get('advanced.proxy_timeout_seconds');
  const idleS =
    get('providers.<name>.idle_timeout_seconds', name) ?? get('advanced.idle_timeout_seconds');
  return {
    name,
    kind,
    baseUrl: baseUrl === null ? null : baseUrl.replace(/(?<!\/)\/+$/, ''),
    auth: get('providers.<name>.auth', name),
    keys: keysOf(from, name),
    requestTimeoutMs: toMs(timeoutS),
    idleTimeoutMs: toMs(idleS),
    supportsStreaming: get('providers.<name>.supports_streaming', name),
    promptCache: get('providers.<name>.prompt_cache', name),
    allowInsecure: get('providers.<name>.allow_insecure', name),
    headers: bare(get('providers.<name>.headers', name)),
    extraBody: bare(get('providers.<name>.extra_body', name)),
    modelAliases: bare(get('providers.<name>.model_aliases', name)),
    pricing: {
      inputUsdPerMTok: get('providers.<name>.pricing.input_cost_per_1m_tokens', name),
      outputUsdPerMTok: get('providers.<name>.pricing.output_cost_per_1m_tokens', name),
    },
  };
}

const KEYS = [
  ['api_key', 'api-key'],
  ['oauth_token', 'bearer'],
  ['oauth_token2', 'bearer'],
] as const;

function keysOf(from: Values['from'], name: string): readonly ProviderKey[] {
  return KEYS.flatMap(([setting, scheme]) => {
    const { value, source, where } = from(`providers.<name>.${setting}`, name);
    if (typeof value !== 'string') return [];
    // Two keys may stand on one line of a file.
    const label = source === 'file' ? `providers.${name}.${setting}` : where;
    return [{ scheme, secret: value, label }];
  });
}

function storage(
  { get }: Values,
  home: string,
): Pick<Config, 'cache' | 'ledger' | 'capture' | 'shared'> {
  const db = get('ledger.db') ?? join(home, 'monitor.db');
  return {
    cache: {
      enabled: get('cache.enabled'),
      type: get('cache.type'),
      ttlMs: get('cache.ttl_seconds') * 1000,
      maxBytes: get('cache.max_size_mb') * MEBIBYTE,
    },
    ledger: { db },
    capture: {
      enabled: get('capture.enabled'),
      maxBytes: get('capture.max_mb') * MEBIBYTE,
      retentionDays: get('capture.retention_days'),
    },
    shared: { redisUrl: get('shared.redis_url') },
  };
}

function observing(
  { get }: Values,
  home: string,
): Pick<Config, 'logging' | 'metrics' | 'alerts' | 'audit' | 'telemetry'> {
  return {
    logging: {
      enabled: get('logging.enabled'),
      level: get('logging.level'),
      destination: get('logging.destination'),
      retentionDays: get('logging.retention_days'),
      includeRequestBody: get('logging.include_request_body'),
      includeResponseBody: get('logging.include_response_body'),
      format: get('logging.format'),
      traces: get('advanced.enable_trace_logs'),
    },
    metrics: {
      enabled: get('metrics.enabled'),
      windowMs: get('metrics.collection_window_seconds') * 1000,
      retentionDays: get('metrics.retention_days'),
    },
    alerts: get('alerts').map(alert),
    audit: { enabled: get('audit.enabled') },
    telemetry: {
      enabled: get('telemetry.enabled'),
      logFile: get('telemetry.log_file') ?? join(home, 'telemetry.jsonl'),
    },
  };
}

function safety(values: Values): Pick<Config, 'security' | 'limits' | 'streaming' | 'budget'> {
  const { get } = values;
  return {
    security: {
      requireApiKey: get('security.require_api_key'),
      apiKey: get('security.api_key'),
      allowedOrigins: [get('security.allowed_origins')].flat(),
      trustBrowserOrigins: get('security.trust_browser_origins'),
    },
    limits: limits(values),
    streaming: {
      enabled: get('streaming.enabled'),
      formats: get('streaming.formats'),
      bufferTokens: get('streaming.buffer_tokens'),
      flushIntervalMs: get('streaming.flush_interval_ms'),
      maxConcurrentStreams: get('streaming.max_concurrent_streams'),
    },
    budget: {
      enabled: get('budget.enabled'),
      totalTokens: get('budget.total_tokens'),
      perRequestUsd: get('budget.per_request_usd'),
      perSessionUsd: get('budget.per_session_usd'),
      perDayUsd: get('budget.per_day_usd'),
      warnPercent: get('budget.warn_percent'),
    },
  };
}

function limits({ get, from }: Values): Config['limits'] {
  const perSecond = get('rate_limit.requests_per_second');
  const burst = get('rate_limit.burst_size') ?? Math.max(1, Math.ceil(perSecond ?? 1));
  const maxRequestBytes = get('advanced.max_request_size_bytes');
  const isChosen = (key: Parameters<typeof from>[0]) => from(key).source !== 'default';
  const chosen = isChosen('advanced.max_request_size_bytes');
  // Who sets a rate alone has not asked for the other limit to cap it.
  const hasMinute = perSecond === null || isChosen('security.rate_limit_per_minute');
  return {
    requestsPerMinute: (hasMinute && get('security.rate_limit_per_minute')) || null,
    rate: perSecond === null ? null : { perSecond, burst },
    maxRequestBytes,
    maxBytesInFlight: get('advanced.max_bytes_in_flight'),
    maxProxiedRequestBytes: chosen ? maxRequestBytes : PROXIED_BODY_BYTES,
  };
}

const MINUTE_MS = 60_000;
/** Of a rule that says nothing of them. */
const ALERT_WINDOW_MINUTES = 5;
const ALERT_COOLDOWN_MINUTES = 60;

function alert({ name, when, message, cooldown_minutes }: WrittenAlert): Config['alerts'][number] {
  return {
    name,
    // Others were refused before.
    metric: when.metric as AlertMetric,
    above: when.above ?? null,
    below: when.below ?? null,
    windowMs: (when.window_minutes ?? ALERT_WINDOW_MINUTES) * MINUTE_MS,
    message: message ?? null,
    cooldownMs: (cooldown_minutes ?? ALERT_COOLDOWN_MINUTES) * MINUTE_MS,
  };
}

/** 0 means no limit. Anything above is at least a millisecond. */
function toMs(seconds: number): number | null {
  return seconds === 0 ? null : Math.max(1, Math.round(seconds * 1000));
}

/** A record without a prototype, so that no name reaches one; unset values leave no name. */
function byName<T>(
  names: readonly string[],
  make: (name: string) => T | null,
): Readonly<Record<string, T>> {
  const record = Object.create(null) as Record<string, T>;
  for (const name of names) {
    const value = make(name);
    if (value !== null) record[name] = value;
  }
  return record;
}

/** The same map without a prototype, so that looking up `constructor` finds nothing. */
function bare<T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return byName(Object.keys(map), (name) => map[name] ?? null);
}

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
