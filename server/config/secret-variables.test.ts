import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { faultsOf, loadText } from '../../fixtures/server/config-text.ts';

const FILE = 'providers: { chat: { api_key: "${MY_KEY}", headers: { X-Team: "team ${TEAM}" } } }';

test('a secret may be taken from a variable', async () => {
  const { config } = await loadText({ file: FILE, env: { MY_KEY: 'sesame', TEAM: 'blue' } });
  const chat = config.providers['chat'];
  assert.equal(
    chat?.keys.map((key) => key.secret),
    ['sesame'],
  );
  assert.equal({ ...chat?.headers }, { 'X-Team': 'team blue' });
  const own = 'security: { api_key: "${MY_KEY}" }';
  assert.is((await loadText({ file: own, envFile: 'MY_KEY=b' })).config.security.apiKey, 'b');
});

test('an unset variable and an invalid variable name are faults', async () => {
  for (const [file, words] of [
    [
      'providers: { chat: { api_key: "${MY_KEY}" } }',
      /chat.api_key: the variable MY_KEY is not set/,
    ],
    ['security: { api_key: "${EMPTY}" }', /the variable EMPTY is not set/],
    ['security: { api_key: "${A:-b}" }', /does not name a variable; write \$\{NAME\}/],
    ['security: { api_key: "${__proto__}" }', /the variable __proto__ is not set/],
  ] as const) {
    const faults = await faultsOf({ file, env: { EMPTY: '' } });
    assert.is(faults.length, 1, file);
    assert.match(faults[0]?.text ?? '', words);
    assert.match(faults[0]?.text ?? '', 'c.yaml:1');
  }
});

test('variables are expanded only in secrets', async () => {
  const { config } = await loadText({ file: 'provider: chat\nvault: { root: "/x/${HOME}" }' });
  assert.match(config.vault.indexPath, '${HOME}');
});

test('refuses a file that everybody can write, and says how to fix it', async () => {
  for (const mode of [0o666, 0o602, 0o777])
    for (const sources of [{ file: '' }, { own: '' }, { beside: '' }, { envFile: '' }]) {
      const error: unknown = await loadText({ ...sources, mode }).catch(
        (thrown: unknown) => thrown,
      );
      assert.match(String(error), /any user on this machine can write to it; run: chmod o-w \//);
    }
  await loadText({ file: '', mode: 0o664 });
});

test.run();
