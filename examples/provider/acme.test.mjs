import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testProvider } from 'svc/plugins';
import acme from './acme.mjs';

const provider = testProvider(acme);

test('a request gets a tenant and the versioned path, and loses the fields that acme refuses', () => {
  const sent = provider.sends({ model: 'fast', messages: [], stream_options: {} });
  assert.equal(sent.path, '/2026-01/chat/completions');
  assert.equal(sent.headers['x-acme-tenant'], 'demo');
  assert.deepEqual(Object.keys(sent.body), ['model', 'messages']);
});

test('the text of a response is moved to where the dialect expects it', async () => {
  const answer = await provider.answers({ choices: [{ message: { output_text: 'Hello' } }] });
  assert.deepEqual(answer, { choices: [{ message: { content: 'Hello' } }] });
});

test('keep-alive events do not reach the client', async () => {
  const delta = { data: { choices: [{ index: 0, delta: { content: 'He' } }] } };
  const events = await provider.streams([{ data: { type: 'keep-alive' } }, delta]);
  assert.deepEqual(events, [delta]);
});
