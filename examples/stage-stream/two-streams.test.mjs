import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'svc/testing';

/**
 * Sends one request through the plugin of `module`; returns what the provider gets and the client
 * sees.
 */
async function through(module, node, body) {
  const proxy = await testPlugin(new URL(module, import.meta.url), { config: { name: 'Blue' } });
  try {
    const { status, sent, headers, text, notes } = await proxy.send({ body });
    return { status, sent: sent.body, release: headers['x-release'], text, notes: notes[node] };
  } finally {
    await proxy.close();
  }
}

for (const stream of [false, true])
  test(`does the same as the handlers, ${stream ? 'in a stream' : 'in one document'}`, async () => {
    const messages = [{ role: 'user', content: 'What is in {release}?' }];
    const body = { model: 'claude-sonnet-4-5', max_tokens: 9, stream, messages };
    const handlers = await through('../stage/release-name.mjs', 'release-name', body);
    const own = await through('./two-streams.mjs', 'two-streams', body);
    assert.equal(own.sent.messages[0].content, 'What is in Blue?');
    assert.equal(own.release, 'Blue');
    assert.equal(own.notes.releases, handlers.notes.releases);
    assert.deepEqual([own.status, own.sent, own.release], [200, handlers.sent, handlers.release]);
    const withoutIds = (text) => text.replaceAll(/"(?:msg|req)_\w+"/g, '""');
    assert.equal(withoutIds(own.text), withoutIds(handlers.text));
  });
