import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'svc/testing';

const ask = (content) => ({
  body: { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content }] },
});

for (const file of ['release-name.mjs', 'release-stream.mjs'])
  test(`${file} adds the name of the release, and leaves other requests alone`, async () => {
    const module = new URL(file, import.meta.url);
    const proxy = await testPlugin(module, { config: { name: 'Blue "7"' } });
    try {
      const named = await proxy.send(ask('What is in {release}?'));
      assert.equal(named.sent.body.messages[0].content, 'What is in Blue "7"?');
      assert.equal(named.headers['x-release'], 'Blue "7"');
      assert.equal(named.notes['release-name'].releases, 1);
      const other = await proxy.send(ask('Hello'));
      assert.equal(other.sent.body.messages[0].content, 'Hello');
      assert.equal(other.notes['release-name'].releases, 0);
    } finally {
      await proxy.close();
    }
  });
