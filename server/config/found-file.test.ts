import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { faultsOf, loadText } from '../../fixtures/server/config-text.ts';

const OWN = `
security: { require_api_key: true, rate_limit_per_minute: 100 }
budget: { enabled: true, per_day_usd: 5 }
provider: chat
compression: { mode: strict }
advanced: { max_request_size_bytes: 1000000 }
`;

test('a found file is merged over the one in the home folder, and its changes are listed', async () => {
  const { config, warnings, provenance } = await loadText({
    own: OWN,
    beside: 'compression: { mode: hybrid, enabled: true }\nserver: { port: 9000 }',
    env: { SVC_PORT: '9001' },
  });
  assert.equal(
    [config.security.requireApiKey, config.budget.enabled, config.budget.perDayUsd],
    [true, true, 5],
  );
  assert.equal([config.routing.primary, config.limits.requestsPerMinute], ['chat', 100]);
  assert.is(provenance.get('compression.mode')?.where, 'proxy.yaml:1');
  assert.is(provenance.get('budget.per_day_usd')?.where, '/home/ada/.svc/config.yaml:3');
  assert.equal(warnings, ['proxy.yaml in this folder changes compression.mode (strict → hybrid)']);
});

test('a found file that changes nothing causes no warning', async () => {
  assert.equal((await loadText({ own: OWN, beside: '' })).warnings, []);
  assert.equal((await loadText({ own: OWN, beside: 'provider: chat' })).warnings, []);
});

test('a found file may make settings stricter', async () => {
  const { config } = await loadText({
    own: OWN,
    beside:
      'security: { rate_limit_per_minute: 50 }\nbudget: { per_day_usd: 1, per_request_usd: 1 }\nvault: { enabled: false }',
  });
  assert.equal([config.limits.requestsPerMinute, config.budget.perDayUsd], [50, 1]);
});

test('a found file may not make any setting looser', async () => {
  for (const beside of [
    'security: { require_api_key: false }',
    'security: { rate_limit_per_minute: 101 }',
    'security: { rate_limit_per_minute: 0 }',
    'budget: { enabled: false }',
    'budget: { per_day_usd: 6 }',
    'budget: { per_day_usd: null }',
    'advanced: { max_request_size_bytes: 2000000 }',
    'advanced: { max_bytes_in_flight: 1000000000 }',
    'streaming: { max_concurrent_streams: 5000 }',
    'compression: { subscription_traffic: true }',
    'capture: { enabled: true }',
    'telemetry: { enabled: true }',
  ]) {
    const faults = await faultsOf({ own: OWN, beside });
    assert.is(faults.length, 1, beside);
    assert.match(faults[0]?.text ?? '', /stricter, not looser.*--config proxy.yaml.*proxy.yaml:1/);
    assert.equal(await faultsOf({ file: beside }), [], `named: ${beside}`);
  }
  // Without a config file in the home folder, the found file may not loosen the defaults.
  assert.is((await faultsOf({ beside: 'capture: { enabled: true }' })).length, 1);
  assert.equal(await faultsOf({ beside: 'security: { require_api_key: true }' }), []);
});

test('a found file may not change where requests go, what they contain, or who has access', async () => {
  for (const beside of [
    'providers: { chat: { base_url: "https://else.example" } }',
    'providers: { chat: { extra_body: { store: true } } }',
    'providers: { chat: { auth: none } }',
    'providers: { chat: { model_aliases: { a: b } } }',
    'providers: { chat: { api_key: "${CHATPROV_API_KEY}" } }',
    'providers: { chat: { headers: { a: b } } }',
    'providers: { chat: { pricing: { input_cost_per_1m_tokens: 0 } } }',
    'routing: { fallback: [chat] }',
    'models: { small: { provider: chat } }',
    'keys: { rotation: roundrobin }',
    'custom_providers: [{ module: ./x.js, name: x }]',
    'server: { host: 0.0.0.0 }',
    'server: { allowed_hosts: [evil.example] }',
    'security: { api_key: abc }',
    'security: { allowed_origins: ["https://evil.example"] }',
    'security: { trust_browser_origins: true }',
    'rate_limit: { requests_per_second: 1000 }',
    'ledger: { db: /tmp/x }',
    'telemetry: { log_file: /tmp/x }',
    'vault: { root: / }',
    'logging: { include_request_body: true }',
  ]) {
    const faults = await faultsOf({ own: OWN, beside, env: { CHATPROV_API_KEY: 'k' } });
    assert.is(faults.length, 1, beside);
    assert.match(faults[0]?.text ?? '', /may not be set by a proxy.yaml that was merely found/);
  }
});

test.run();
