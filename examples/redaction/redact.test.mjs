import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'svc/testing';

const config = { salt: 'keep this to yourself', words: ['Ada'] };

test('the provider sees marks, and the client the original text', async () => {
  const proxy = await testPlugin(new URL('./redact.mjs', import.meta.url), { config });
  try {
    const content = 'I am Ada; write to ada@example.org.';
    const body = {
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      messages: [{ role: 'user', content }],
    };
    const first = await proxy.send({ body });
    const sent = first.sent.body.messages[0].content;
    assert.match(sent, /^I am <word-[0-9a-f]{8}>; write to <email-[0-9a-f]{8}>\.$/);
    assert.equal(first.notes.redact.redacted, 2);

    const text = `Done: ${sent}`;
    const answer = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text }],
    };
    proxy.replyWith({ json: { ...answer, usage: { input_tokens: 1, output_tokens: 1 } } });
    const second = await proxy.send({ body });
    assert.equal(second.json().content[0].text, `Done: ${content}`);
  } finally {
    await proxy.close();
  }
});
