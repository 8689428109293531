/**
 * The configuration as the program uses it: names in camel case, units in the names,
 * null for "none" and for "no limit". Deeply frozen; a reload makes a new one.
 */
import type { AlertMetric } from '../alerts/metrics.ts';
import type { ProviderKind } from './slices/providers.ts';

export type { ProviderKind } from './slices/providers.ts';

/** How hard requests are compressed. */
export type CompressionMode = 'strict' | 'hybrid' | 'aggressive';

/** One configured key of a provider. */
export interface ProviderKey {
  /** `api-key` goes out in the header of the kind, `bearer` as `Authorization: Bearer`. */
  readonly scheme: 'api-key' | 'bearer';
  readonly secret: string;
  /** Safe to show: the variable or the setting that it was read from. */
  readonly label: string;
}

/** One provider, built in or named by the user. */
export interface ProviderConfig {
  readonly name: string;
  readonly kind: ProviderKind;
  /** Origin and path prefix without a slash at the end; null for the built-in passthrough. */
  readonly baseUrl: string | null;
  /** `none` for servers that want no key. */
  readonly auth: 'key' | 'none';
  /** In the order of rotation; empty when only clients bring keys. */
  readonly keys: readonly ProviderKey[];
  /** For connecting and the head of the answer. */
  readonly requestTimeoutMs: number | null;
  /** Between two reads of a running answer. */
  readonly idleTimeoutMs: number | null;
  readonly supportsStreaming: boolean;
  /** Whether it takes markers, or a key, that ask it to cache. */
  readonly promptCache: 'auto' | 'on' | 'off';
  readonly allowInsecure: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly modelAliases: Readonly<Record<string, string>>;
  /** US dollars a million tokens, where the user overrides the price table. */
  readonly pricing: {
    readonly inputUsdPerMTok: number | null;
    readonly outputUsdPerMTok: number | null;
  };
}

/** The whole configuration. */
export interface Config {
  /** `$SVC_HOME`, absolute. */
  readonly home: string;
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** null means the port after the one that was bound. */
    readonly wsPort: number | null;
    readonly allowedHosts: readonly string[];
  };
  readonly outbound: {
    readonly httpsProxy: string | null;
    readonly httpProxy: string | null;
    readonly noProxy: string | null;
  };
  readonly compression: {
    readonly enabled: boolean;
    readonly mode: CompressionMode;
    readonly maxChars: number;
    readonly thresholdTokens: number;
    readonly cacheEntries: number;
    readonly maxTimeMs: number | null;
    readonly logBudgetTokens: number;
    readonly userProse: boolean;
    readonly subscriptionTraffic: boolean;
    readonly http100Keepalive: boolean;
  };
  readonly inject: { readonly cacheBreakpoints: 'auto' | 'off' };
  readonly vault: {
    readonly enabled: boolean;
    readonly indexPath: string;
    readonly backend: 'json_blocks' | 'sqlite';
    readonly injectBudgetTokens: number;
    readonly injectTopK: number;
    readonly injectMinScore: number;
    readonly capsules: boolean;
    readonly capsuleMinChars: number;
  };
  /** By name, without a prototype. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly plugins: readonly { readonly module: string; readonly config?: unknown }[];
  readonly customProviders: readonly { readonly module: string; readonly name: string }[];
  readonly keys: {
    readonly rotation: 'failover' | 'roundrobin';
    readonly cooldown429Ms: number;
    readonly cooldown401Ms: number;
  };
  readonly routing: {
    readonly enabled: boolean;
    /** null means: by the path of the request. */
    readonly primary: string | null;
    readonly fallback: readonly string[];
    /** By model name, without a prototype. */
    readonly models: Readonly<
      Record<string, { readonly provider: string | null; readonly stream: boolean }>
    >;
    /** Requests a minute by provider, without a prototype. */
    readonly rpm: Readonly<Record<string, number>>;
  };
  readonly cache: {
    readonly enabled: boolean;
    readonly type: 'memory' | 'disk';
    readonly ttlMs: number;
    readonly maxBytes: number;
  };
  readonly ledger: { readonly db: string };
  readonly capture: {
    readonly enabled: boolean;
    readonly maxBytes: number;
    readonly retentionDays: number;
  };
  readonly shared: { readonly redisUrl: string | null };
  readonly logging: {
    readonly enabled: boolean;
    readonly level: 'debug' | 'info' | 'warning' | 'error';
    readonly destination: 'file' | 'stdout';
    readonly retentionDays: number;
    readonly includeRequestBody: boolean;
    readonly includeResponseBody: boolean;
    readonly format: 'json' | 'text';
    /** Also the trace of every request. */
    readonly traces: boolean;
  };
  readonly metrics: {
    readonly enabled: boolean;
    readonly windowMs: number;
    readonly retentionDays: number;
  };
  readonly alerts: readonly {
    readonly name: string;
    readonly metric: AlertMetric;
    /** Exactly one of the two limits is there. */
    readonly above: number | null;
    readonly below: number | null;
    readonly windowMs: number;
    readonly message: string | null;
    readonly cooldownMs: number;
  }[];
  readonly audit: { readonly enabled: boolean };
  readonly telemetry: { readonly enabled: boolean; readonly logFile: string };
  readonly security: {
    readonly requireApiKey: boolean;
    readonly apiKey: string | null;
    readonly allowedOrigins: readonly string[];
    readonly trustBrowserOrigins: boolean;
  };
  readonly limits: {
    /** From one address; null for no limit. */
    readonly requestsPerMinute: number | null;
    /** The limit in its other form: a steady rate with bursts. */
    readonly rate: { readonly perSecond: number; readonly burst: number } | null;
    /** Largest body of our own endpoints. */
    readonly maxRequestBytes: number;
    /** Largest body under `/v1*`. */
    readonly maxProxiedRequestBytes: number;
    /** What all bodies and messages that have not arrived whole may hold together. */
    readonly maxBytesInFlight: number;
  };
  readonly streaming: {
    readonly enabled: boolean;
    readonly formats: readonly ('sse' | 'chunked')[];
    /** 0 sends each event as it arrives. */
    readonly bufferTokens: number;
    readonly flushIntervalMs: number;
    readonly maxConcurrentStreams: number;
  };
  readonly budget: {
    readonly enabled: boolean;
    readonly totalTokens: number | null;
    readonly perRequestUsd: number | null;
    readonly perSessionUsd: number | null;
    readonly perDayUsd: number | null;
    readonly warnPercent: number;
  };
}
