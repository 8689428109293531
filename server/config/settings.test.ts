/** The table is complete, consistent, and everything made from it agrees with it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allows } from '../../stages/settings/kind.ts';
import { settingsTable } from './document.ts';
import { allVariables } from './env.ts';
import { freshConfig } from './init.ts';
import { NOT_YET, isInEffect } from './not-yet.ts';
import { findSetting, settings, SPELLINGS } from './settings.ts';
import { loadText } from './testing.ts';

/** The keys of the specification's table, in its order, with their defaults. */
const SPECIFIED: readonly (readonly [key: string, value: unknown])[] = [
  ['compression.enabled', true],
  ['compression.mode', 'hybrid'],
  ['compression.max_chars', 120],
  ['compression.threshold_tokens', 4500],
  ['cache.enabled', true],
  ['cache.type', 'memory'],
  ['cache.ttl_seconds', 3600],
  ['cache.max_size_mb', 256],
  ['logging.enabled', true],
  ['logging.level', 'info'],
  ['logging.destination', 'file'],
  ['logging.retention_days', 30],
  ['logging.include_request_body', false],
  ['logging.include_response_body', false],
  ['metrics.enabled', true],
  ['metrics.collection_window_seconds', 60],
  ['metrics.retention_days', 7],
  ['security.require_api_key', false],
  ['security.api_key', null],
  ['security.allowed_origins', ['*']],
  ['security.rate_limit_per_minute', 1000],
  ['advanced.vault_index_path', null],
  ['advanced.enable_trace_logs', false],
  ['advanced.proxy_timeout_seconds', 30],
  ['advanced.max_request_size_bytes', 10_485_760],
];

/** The variables of the specification with the default of what they set. */
const VARIABLES: Readonly<Record<string, unknown>> = {
  SVC_PORT: 8766,
  SVC_MODE: 'hybrid',
  SVC_COMPACT: true,
  SVC_DB: null,
  SVC_COMPACT_MAX_CHARS: 120,
  SVC_COMPACT_THRESHOLD_TOKENS: 4500,
  SVC_COMPACT_CACHE_SIZE: 2000,
  SVC_MAX_COMPRESSION_TIME_MS: 5000,
  SVC_VAULT_INDEX: null,
  SVC_INJECT_BUDGET: 4000,
  SVC_INJECT_TOP_K: 5,
  SVC_INJECT_MIN_SCORE: 2,
  SVC_RETRIEVAL_BACKEND: 'json_blocks',
  MSGPROV_API_KEY: null,
  MSGPROV_OAUTH_TOKEN: null,
  MSGPROV_OAUTH_TOKEN2: null,
  SVC_KEY_ROTATION: 'failover',
  SVC_KEY_COOLDOWN_429: 60,
  SVC_KEY_COOLDOWN_401: 300,
  SVC_CAPSULE_BUILDER: false,
  SVC_CAPSULE_MIN_CHARS: 400,
  SVC_ROUTER_ENABLED: true,
  SVC_HTTP100_KEEPALIVE: false,
  SVC_WS_PORT: null,
  SVC_REQUEST_TIMEOUT: 30,
  VAULT_INDEX_PATH: null,
};

/** Keys that the specification only mentions. */
const MENTIONED = [
  'provider',
  'fallback',
  'routing.primary',
  'routing.fallback',
  'providers.x.api_key',
  'providers.x.timeout_seconds',
  'providers.x.model_aliases',
  'providers.x.pricing.input_cost_per_1m_tokens',
  'providers.x.pricing.output_cost_per_1m_tokens',
  'providers.x.supports_streaming',
  'rate_limiting.x.rpm',
  'rate_limit.requests_per_second',
  'rate_limit.burst_size',
  'custom_providers',
  'compression.min_tokens',
  'telemetry.enabled',
  'telemetry.log_file',
  'vault.enabled',
  'vault.root',
  'vault.index_file',
  'streaming.enabled',
  'streaming.formats',
  'streaming.buffer_tokens',
  'streaming.flush_interval_ms',
  'streaming.max_concurrent_streams',
  'models.x.provider',
  'models.x.stream',
  'logging.format',
  'server.host',
  'server.port',
  'proxy.host',
  'proxy.port',
];

test('every key of the specification is there, in its order, with its default', () => {
  const keys = SPECIFIED.map(([key]) => key);
  const ours = settings.filter(({ key }) => keys.includes(key));
  assert.equal(
    ours.map((setting) => [setting.key, setting.default]),
    SPECIFIED,
  );
});

test('every variable of the specification sets something, with its default', () => {
  const known = new Map(
    allVariables().map((variable) => [variable.name, variable.setting.default]),
  );
  for (const [name, value] of Object.entries(VARIABLES)) {
    assert.ok(known.has(name), name);
    assert.equal(known.get(name), value, name);
  }
});

test('every key that the specification mentions is a setting', () => {
  for (const key of MENTIONED) {
    const found = findSetting(key.split('.'));
    assert.ok(found !== undefined && found !== 'section', key);
  }
});

test('no spelling and no variable stands for two settings', () => {
  assert.is(new Set(SPELLINGS).size, SPELLINGS.length);
  const names = allVariables().map((variable) => variable.name);
  assert.is(new Set(names).size, names.length);
  assert.ok(!names.some((name) => /^(ANTHROPIC|OPENAI|GEMINI|GOOGLE)_.*URL$/.test(name)));
});

test('every default is a value that the setting accepts', () => {
  for (const row of settings) {
    assert.ok(row.default === null || allows(row.type.definition, row.default), row.key);
  }
});

test('every line of the list of unbuilt features names settings', () => {
  for (const entry of NOT_YET) {
    assert.ok(
      settings.some(({ key }) => key === entry || key.startsWith(`${entry}.`)),
      entry,
    );
  }
  assert.ok(isInEffect('server.port'));
  assert.not.ok(isInEffect('shared.redis_url'));
});

test('secrets, paths and addresses of providers are guarded against a found file', () => {
  for (const row of settings) {
    const { key } = row;
    const risky = row.secret === true || row.resolve !== undefined || key.endsWith('base_url');
    if (risky) assert.ok(row.guarded, key);
  }
  const settingsByKey = new Map(settings.map((row) => [row.key, row]));
  for (const what of ['request', 'response'])
    assert.ok(settingsByKey.get(`logging.include_${what}_body`)?.guarded, what);
});

test('a fresh file loads and changes nothing, and so does each of its lines uncommented', async () => {
  const text = freshConfig();
  const { provenance } = await loadText({ file: text });
  assert.ok([...provenance.values()].every(({ source }) => source === 'default'));
  const active = text.replace(/^( *)#(?! )(?=\S)/gm, (mark, indent: string) =>
    mark === '#' ? '' : indent,
  );
  const open = active.replace('# Configuration', '#');
  // An unset value written out as null is the same as leaving it out; only the examples differ.
  const loaded = await loadText({ file: open });
  const set = [...loaded.provenance].filter(
    ([key, one]) => !/\.(local|small|chat)\./.test(key) && one.source === 'file',
  );
  assert.ok(set.length > 60, `${set.length}`);
  for (const [key, one] of set) {
    if (key !== 'server.ws_port') assert.equal(one.value, one.setting.default, key);
  }
  for (const { key } of settings) assert.ok(text.includes(`#${key.split('.').at(-1)}: `), key);
});

test('the document has one row a setting with its variables', () => {
  const rows = settingsTable().split('\n').slice(2);
  assert.is(rows.length, settings.length);
  const key = rows.find((row) => row.startsWith('| `providers.<name>.api_key`'));
  assert.match(key ?? '', '`MSGPROV_API_KEY`, `ANTHROPIC_API_KEY`');
  assert.match(rows.join('\n'), '| `SVC_COMPACT` | `true` | true or false |');
});

test.run();
