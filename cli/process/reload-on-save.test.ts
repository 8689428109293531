import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixturePath } from '../../fixtures/paths.ts';
import { MESSAGE } from '../../fixtures/server/exchange.ts';
import { makePlace, start } from '../../fixtures/cli/run.ts';

const place = makePlace();
test.after(() => place.dispose());

test('with --debug a saved plugin or configuration takes effect immediately, a faulty one does not', async () => {
  const module = join(place.folder, 'canned.mjs');
  const config = join(place.folder, 'config.yaml');
  copyFileSync(fixturePath('plugins', 'canned.mjs'), module);
  const configure = (text: string) =>
    writeFileSync(config, `plugins: [{ module: ${module}, config: { text: ${text} } }]\n`, {
      mode: 0o600,
    });
  configure('one');
  const proxy = start(place, ['serve', '--debug', '--port', '0', '--config', config]);
  try {
    const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
    const ask = async () => {
      const body = JSON.stringify({ ...MESSAGE, model: 'canned' });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })).text();
    };
    assert.match(await ask(), /"one"/);
    configure('two');
    await proxy.prints(/config\.yaml saved[^]*Configuration reloaded/);
    assert.match(await ask(), /"two"/);
    const source = readFileSync(module, 'utf8');
    writeFileSync(module, source.replace('config.text ??', "'three' ??"));
    await proxy.prints(/canned\.mjs saved[^]*Configuration reloaded/);
    assert.match(await ask(), /"three"/);
    writeFileSync(module, 'export default {');
    await proxy.prints(/cannot be used[^]*canned\.mjs/);
    assert.match(await ask(), /"three"/, 'the previous version stays in use');
  } finally {
    proxy.child.kill('SIGINT');
    assert.is((await proxy.ended).code, 0);
  }
});

test.run();
