/**
 * Every variable and key of the specification's tables of settings, changed one at a time: the
 * loaded configuration differs from the defaults in exactly the places listed here.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allVariables } from './env.ts';
import { settings } from './settings.ts';
import { loadText, type TextSources } from '../../fixtures/server/config-text.ts';

/** Paths of `Config` with their new values. */
type Effect = Readonly<Record<string, unknown>>;

const TIMED = ['messages', 'chat', 'generative', 'passthrough'];
const timeouts = (ms: number | null): Effect =>
  Object.fromEntries(TIMED.map((name) => [`providers.${name}.requestTimeoutMs`, ms]));
const key = (scheme: string, label: string): Effect => ({
  'providers.messages.keys': [{ scheme, secret: 'secret-1', label }],
});

/** The specification's variables, in its order: name, default, another value, effect. */
const VARIABLES: readonly (readonly [
  name: string,
  unset: unknown,
  text: string,
  effect: Effect,
])[] = [
  ['SVC_PORT', 8766, '9000', { 'server.port': 9000 }],
  ['SVC_MODE', 'hybrid', 'strict', { 'compression.mode': 'strict' }],
  ['SVC_COMPACT', true, '0', { 'compression.enabled': false }],
  ['SVC_DB', null, '/data/x.db', { 'ledger.db': '/data/x.db' }],
  ['SVC_COMPACT_MAX_CHARS', 120, '90', { 'compression.maxChars': 90 }],
  ['SVC_COMPACT_THRESHOLD_TOKENS', 4500, '7', { 'compression.thresholdTokens': 7 }],
  ['SVC_COMPACT_CACHE_SIZE', 2000, '5', { 'compression.cacheEntries': 5 }],
  ['SVC_MAX_COMPRESSION_TIME_MS', 5000, '0', { 'compression.maxTimeMs': 0 }],
  ['SVC_VAULT_INDEX', null, '/v', { 'vault.indexPath': '/v' }],
  ['SVC_INJECT_BUDGET', 4000, '2200', { 'inject.budgetTokens': 2200 }],
  ['SVC_INJECT_TOP_K', 5, '3', { 'inject.topK': 3 }],
  ['SVC_INJECT_MIN_SCORE', 2, '0.6', { 'inject.minScore': 0.6 }],
  ['SVC_RETRIEVAL_BACKEND', 'json_blocks', 'sqlite', { 'vault.backend': 'sqlite' }],
  ['MSGPROV_API_KEY', null, 'secret-1', key('api-key', 'MSGPROV_API_KEY')],
  ['MSGPROV_OAUTH_TOKEN', null, 'secret-1', key('bearer', 'MSGPROV_OAUTH_TOKEN')],
  ['MSGPROV_OAUTH_TOKEN2', null, 'secret-1', key('bearer', 'MSGPROV_OAUTH_TOKEN2')],
  ['SVC_KEY_ROTATION', 'failover', 'roundrobin', { 'keys.rotation': 'roundrobin' }],
  ['SVC_KEY_COOLDOWN_429', 60, '1', { 'keys.cooldown429Ms': 1000 }],
  ['SVC_KEY_COOLDOWN_401', 300, '2', { 'keys.cooldown401Ms': 2000 }],
  ['SVC_CAPSULE_BUILDER', false, '1', { 'inject.capsules': true }],
  ['SVC_CAPSULE_MIN_CHARS', 400, '9', { 'inject.capsuleMinChars': 9 }],
  ['SVC_ROUTER_ENABLED', true, 'false', { 'routing.enabled': false }],
  ['SVC_HTTP100_KEEPALIVE', false, '1', { 'compression.http100Keepalive': true }],
  ['SVC_WS_PORT', null, '9001', { 'server.wsPort': 9001 }],
  ['SVC_REQUEST_TIMEOUT', 30, '0', timeouts(null)],
  ['VAULT_INDEX_PATH', null, '/w', { 'vault.indexPath': '/w' }],
];

/** The keys of the specification's table, in its order: key, default, another value, effect. */
const KEYS: readonly (readonly [key: string, unset: unknown, text: string, effect: Effect])[] = [
  ['compression.enabled', true, 'false', { 'compression.enabled': false }],
  ['compression.mode', 'hybrid', 'aggressive', { 'compression.mode': 'aggressive' }],
  ['compression.max_chars', 120, '90', { 'compression.maxChars': 90 }],
  ['compression.threshold_tokens', 4500, '0', { 'compression.thresholdTokens': 0 }],
  ['cache.enabled', true, 'false', { 'cache.enabled': false }],
  ['cache.type', 'memory', 'disk', { 'cache.type': 'disk' }],
  ['cache.ttl_seconds', 3600, '60', { 'cache.ttlMs': 60_000 }],
  ['cache.max_size_mb', 256, '1', { 'cache.maxBytes': 1_048_576 }],
  ['logging.enabled', true, 'false', { 'logging.enabled': false }],
  ['logging.level', 'info', 'warning', { 'logging.level': 'warning' }],
  ['logging.destination', 'file', 'stdout', { 'logging.destination': 'stdout' }],
  ['logging.retention_days', 30, '1', { 'logging.retentionDays': 1 }],
  ['logging.include_request_body', false, 'true', { 'logging.includeRequestBody': true }],
  ['logging.include_response_body', false, 'true', { 'logging.includeResponseBody': true }],
  ['metrics.enabled', true, 'false', { 'metrics.enabled': false }],
  ['metrics.collection_window_seconds', 60, '5', { 'metrics.windowMs': 5000 }],
  ['metrics.retention_days', 7, '1', { 'metrics.retentionDays': 1 }],
  ['security.require_api_key', false, 'true', { 'security.requireApiKey': true }],
  ['security.api_key', null, 'secret-1', { 'security.apiKey': 'secret-1' }],
  [
    'security.allowed_origins',
    ['*'],
    '[https://a.example]',
    { 'security.allowedOrigins': ['https://a.example'] },
  ],
  ['security.rate_limit_per_minute', 1000, '5', { 'limits.requestsPerMinute': 5 }],
  ['advanced.vault_index_path', null, '/v', { 'vault.indexPath': '/v' }],
  ['advanced.enable_trace_logs', false, 'true', { 'logging.traces': true }],
  ['advanced.proxy_timeout_seconds', 30, '1.5', timeouts(1500)],
  [
    'advanced.max_request_size_bytes',
    10_485_760,
    '99',
    { 'limits.maxRequestBytes': 99, 'limits.maxProxiedRequestBytes': 99 },
  ],
];

/** Keys that the specification only mentions: key, a value, effect. */
const MENTIONED: readonly (readonly [key: string, text: string, effect: Effect])[] = [
  ['provider', 'chat', { 'routing.primary': 'chat' }],
  ['fallback', '[chat]', { 'routing.fallback': ['chat'] }],
  ['routing.primary', 'passthrough', { 'routing.primary': 'passthrough' }],
  ['routing.fallback', 'chat', { 'routing.fallback': ['chat'] }],
  ['providers.messages.api_key', 'secret-1', key('api-key', 'providers.messages.api_key')],
  ['providers.chat.timeout_seconds', '2', { 'providers.chat.requestTimeoutMs': 2000 }],
  ['providers.chat.model_aliases', '{ a: b }', { 'providers.chat.modelAliases.a': 'b' }],
  [
    'providers.chat.pricing.input_cost_per_1m_tokens',
    '3',
    { 'providers.chat.pricing.inputUsdPerMTok': 3 },
  ],
  [
    'providers.chat.pricing.output_cost_per_1m_tokens',
    '4',
    { 'providers.chat.pricing.outputUsdPerMTok': 4 },
  ],
  ['providers.chat.supports_streaming', 'false', { 'providers.chat.supportsStreaming': false }],
  ['rate_limiting.chat.rpm', '50', { 'routing.rpm.chat': 50 }],
  [
    'rate_limit.requests_per_second',
    '100',
    { 'limits.requestsPerMinute': null, 'limits.rate': { perSecond: 100, burst: 100 } },
  ],
  ['logging.format', 'text', { 'logging.format': 'text' }],
  [
    'custom_providers',
    '[{ module: /p.mjs, name: mine }]',
    { customProviders: [{ module: '/p.mjs', name: 'mine' }] },
  ],
  ['compression.min_tokens', '7', { 'compression.thresholdTokens': 7 }],
  ['telemetry.enabled', 'true', { 'telemetry.enabled': true }],
  ['telemetry.log_file', '/t', { 'telemetry.logFile': '/t' }],
  ['vault.enabled', 'false', { 'vault.enabled': false, 'inject.enabled': false }],
  ['vault.root', '/r', { 'vault.indexPath': '/r/.index' }],
  ['vault.index_file', 'i', { 'vault.indexPath': '/home/ada/.svc/i' }],
  ['streaming.enabled', 'false', { 'streaming.enabled': false }],
  ['streaming.formats', '[sse]', { 'streaming.formats': ['sse'] }],
  ['streaming.buffer_tokens', '5', { 'streaming.bufferTokens': 5 }],
  ['streaming.flush_interval_ms', '250', { 'streaming.flushIntervalMs': 250 }],
  ['streaming.max_concurrent_streams', '100', { 'streaming.maxConcurrentStreams': 100 }],
  [
    'models.small.provider',
    'chat',
    { 'routing.models.small.provider': 'chat', 'routing.models.small.stream': true },
  ],
  [
    'models.small.stream',
    'false',
    { 'routing.models.small.provider': null, 'routing.models.small.stream': false },
  ],
  ['server.host', '0.0.0.0', { 'server.host': '0.0.0.0' }],
  ['server.port', '9000', { 'server.port': 9000 }],
  ['proxy.host', '::1', { 'server.host': '::1' }],
  ['proxy.port', '9000', { 'server.port': 9000 }],
];

test('every variable of the specification sets its own setting, and no other', async () => {
  const known = new Map(allVariables().map((one) => [one.name, one.setting.default]));
  for (const [name, unset, text, effect] of VARIABLES) {
    assert.is(known.get(name), unset, name);
    assert.equal(await changes({ env: { [name]: text } }), effect, name);
  }
});

test('every key of the specification has its default and sets its setting', async () => {
  const ours = settings.filter((setting) => KEYS.some(([name]) => name === setting.key));
  assert.equal(
    ours.map((setting) => [setting.key, setting.default]),
    KEYS.map(([name, unset]) => [name, unset]),
  );
  for (const [name, , text, effect] of KEYS)
    assert.equal(await changes(fileWith(name, text)), effect, name);
});

test('every key that the specification mentions sets its setting', async () => {
  for (const [name, text, effect] of MENTIONED)
    assert.equal(await changes(fileWith(name, text)), effect, name);
  const burst = 'rate_limit: { requests_per_second: 1, burst_size: 500 }';
  assert.equal((await changes({ file: burst }))['limits.rate'], { perSecond: 1, burst: 500 });
});

function fileWith(name: string, text: string): TextSources {
  const lines = name.split('.').map((segment, level) => `${'  '.repeat(level)}${segment}:`);
  return { file: `${lines.join('\n')} ${text}` };
}

async function changes(sources: TextSources): Promise<Effect> {
  const [before, after] = [await loadText({}), await loadText(sources)];
  const old = flat(before.config);
  const changed = [...flat(after.config)].filter(([path, value]) => {
    return JSON.stringify(value) !== JSON.stringify(old.get(path));
  });
  return Object.fromEntries(changed);
}

/** Flattens maps only: a list counts as one value, and so does a rate. */
function flat(value: unknown, path = ''): ReadonlyMap<string, unknown> {
  const isLeaf = typeof value !== 'object' || value === null || Array.isArray(value);
  if (isLeaf || path === 'limits.rate') return new Map([[path, value]]);
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [
      ...flat(inner, path === '' ? name : `${path}.${name}`),
    ]),
  );
}

test.run();
