/** How values are converted: units, derived defaults, paths; the result is deeply frozen. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadText } from '../../fixtures/server/config-text.ts';

test('providers: built-in ones, overrides, and named ones with the shorter timeout', async () => {
  const { config } = await loadText({
    file: [
      'advanced: {proxy_timeout_seconds: 10}',
      'providers:',
      '  chat: {base_url: "https://gate.example/openai/", timeout_seconds: 0}',
      '  local: {kind: chat, base_url: "http://127.0.0.1:11434/v1", auth: none, timeout_seconds: 2.5}',
      '  lan: {kind: chat, base_url: "http://10.0.0.5:8000", allow_insecure: true}',
    ].join('\n'),
    env: { SVC_REQUEST_TIMEOUT: '20' },
  });
  assert.equal(Object.keys(config.providers), [
    'messages',
    'chat',
    'generative',
    'passthrough',
    'local',
    'lan',
  ]);
  assert.is(config.providers['chat']?.baseUrl, 'https://gate.example/openai');
  assert.is(config.providers['chat']?.requestTimeoutMs, null);
  assert.is(config.providers['local']?.requestTimeoutMs, 2500);
  assert.is(config.providers['local']?.auth, 'none');
  assert.is(config.providers['messages']?.requestTimeoutMs, 20_000);
  assert.is(config.providers['messages']?.idleTimeoutMs, 600_000);
  assert.is(config.providers['passthrough']?.baseUrl, null);
});

test('names from the file never reach a prototype', async () => {
  const { config } = await loadText({
    file: 'models: {toString: {provider: chat}}\nproviders: {chat: {model_aliases: {valueOf: m}}}',
  });
  assert.is(config.routing.models['toString']?.provider, 'chat');
  assert.is(config.routing.models['hasOwnProperty'], undefined);
  assert.is(config.providers['chat']?.modelAliases['constructor'], undefined);
  assert.is(config.providers['messages']?.headers['constructor'], undefined);
});

test('a model alias may contain dots', async () => {
  const { config } = await loadText({
    file: 'models:\n  gpt-4.10: {provider: chat}\n  4.10: {stream: false}',
  });
  assert.equal(
    { ...config.routing.models },
    {
      'gpt-4.10': { provider: 'chat', stream: true },
      '4.10': { provider: null, stream: false },
    },
  );
});

test("`~` is the home folder, and relative paths start at the file's folder or the current one", async () => {
  const fromFile = await loadText({
    file: 'ledger: {db: m.db}\ncustom_providers: [{module: ./p.mjs, name: p}]\ntelemetry: {log_file: ~/t.jsonl}',
  });
  assert.is(fromFile.config.ledger.db, '/etc/svc/m.db');
  assert.is(fromFile.config.customProviders[0]?.module, '/etc/svc/p.mjs');
  assert.is(fromFile.config.telemetry.logFile, '/home/ada/t.jsonl');
  const fromEnv = await loadText({ env: { SVC_DB: '.svc/monitor.db' } });
  assert.is(fromEnv.config.ledger.db, '/project/.svc/monitor.db');
});

test('the built-in body size limit applies under /v1 only until the user sets one', async () => {
  const alone = await loadText({});
  assert.is(alone.config.limits.maxRequestBytes, 10_485_760);
  assert.is(alone.config.limits.maxProxiedRequestBytes, 33_554_432);
  const set = await loadText({ file: 'advanced: {max_request_size_bytes: 10485760}' });
  assert.is(set.config.limits.maxProxiedRequestBytes, 10_485_760);
});

test('a limit of 0 means no limit, and a rate has a default burst', async () => {
  const { config } = await loadText({
    file: 'security: {rate_limit_per_minute: 0}\nrate_limit: {requests_per_second: 2.5}\nrate_limiting: {chat: {rpm: 50}, messages: }',
  });
  assert.is(config.limits.requestsPerMinute, null);
  assert.equal(config.limits.rate, { perSecond: 2.5, burst: 3 });
  assert.equal({ ...config.routing.rpm }, { chat: 50 });
});

test('the default limit per minute does not apply if only a rate per second is set', async () => {
  const minute = async (file: string) => (await loadText({ file })).config.limits.requestsPerMinute;
  assert.is(await minute(''), 1000);
  assert.is(await minute('rate_limit: {requests_per_second: 100}'), null);
  const both = 'security: {rate_limit_per_minute: 1000}\nrate_limit: {requests_per_second: 100}';
  assert.is(await minute(both), 1000);
});

test('the configuration is deeply frozen', async () => {
  const { config } = await loadText({ file: 'providers: {chat: {extra_body: {a: {b: [1]}}}}' });
  const thaw = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    assert.ok(Object.isFrozen(value), path);
    for (const [key, inner] of Object.entries(value)) thaw(inner, `${path}.${key}`);
  };
  thaw(config, 'config');
});

test.run();
