/** How a configuration is shown to people, and what a reload prints. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { variablesOf } from './env.ts';
import { compareConfigs } from './reload.ts';
import { showConfig } from './show.ts';
import { loadText } from '../../fixtures/server/config-text.ts';

test('show never prints secrets, and every row names its source', async () => {
  const secret = 'sk-canary-0123456789-abcdefgh';
  const loaded = await loadText({
    file: `security: {api_key: ${secret}}\nproviders: {chat: {api_key: shortkey, headers: {x-team: ${secret}}}}`,
    env: {
      MSGPROV_API_KEY: secret,
      HTTPS_PROXY: `http://u:${secret}@p`,
    },
  });
  const rows = showConfig(loaded);
  assert.is(JSON.stringify(rows).includes('canary'), false);
  const row = (key: string) => rows.find((one) => one.key === key);
  assert.equal(row('security.api_key'), {
    key: 'security.api_key',
    value: 'set (…efgh)',
    text: 'set (…efgh)',
    source: 'file',
    where: '/etc/svc/c.yaml:1',
    variables: ['SVC_API_KEY'],
  });
  assert.is(row('providers.chat.api_key')?.value, 'set');
  assert.is(row('providers.chat.headers')?.value, 'set (x-team)');
  assert.equal([row('server.ws_port')?.text, row('server.ws_port')?.value], ['port + 1', null]);
  assert.equal(
    variablesOf('providers.messages.api_key'),
    row('providers.messages.api_key')?.variables,
  );
  assert.ok(showConfig(loaded, { changedOnly: true }).every((one) => one.source !== 'default'));
});

test('show prints values for programs, and words only for people', async () => {
  const file =
    'server: {port: 99}\ncache: {enabled: false}\nfallback: [chat]\nrate_limiting: {chat: {rpm: 5}}';
  const rows = showConfig(await loadText({ file, env: { SVC_INJECT_MIN_SCORE: '0.6' } }));
  const value = (key: string) => rows.find((row) => row.key === key)?.value;
  assert.is(value('server.port'), 99);
  assert.is(value('cache.enabled'), false);
  assert.is(value('vault.inject_min_score'), 0.6);
  assert.is(value('rate_limiting.chat.rpm'), 5);
  assert.equal(value('routing.fallback'), ['chat']);
  assert.equal(value('security.allowed_origins'), ['*']);
  assert.is(value('security.api_key'), null);
});

test('a reload separates changes that apply at once from those that need a restart', async () => {
  const before = await loadText({ file: 'server: {port: 1}\nproviders: {gone: {kind: chat}}' });
  const after = await loadText({
    file: 'server: {port: 2}\ncompression: {mode: strict}\nproviders: {new: {kind: chat, timeout_seconds: 5}}',
  });
  assert.equal(compareConfigs(before, after), {
    applied: [
      'compression.mode',
      'providers.gone.kind',
      'providers.new.kind',
      'providers.new.timeout_seconds',
    ],
    needsRestart: ['server.port'],
  });
  assert.equal(compareConfigs(after, after), { applied: [], needsRestart: [] });
});

test.run();
