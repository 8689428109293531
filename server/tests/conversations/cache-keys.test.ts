/**
 * `prompt_cache_key` added for chat clients that set none, checked in the bytes that the provider
 * receives.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';

const ask = (content: string) => ({ role: 'user', content });

async function send(t: TestProxy, body: object, path: string) {
  const sent = JSON.stringify(body);
  const before = t.upstream.requests.length;
  const response = await exchange(t.proxy.port, { path, body: sent });
  assert.is(response.status, 200, response.text);
  const text = t.upstream.requests[before]!.bodyBytes.toString();
  return { sent, text, body: JSON.parse(text) as Readonly<Record<string, unknown>> };
}

test('a chat provider not known to accept a cache key gets none', () =>
  withProxy({}, async (t) => {
    const all = [ask('Hi.'), { role: 'assistant', content: 'Yes?' }, ask('Go.')];
    for (const length of [1, 3]) {
      const { sent, text } = await send(
        t,
        { model: 'gpt-5', messages: all.slice(0, length) },
        CHAT,
      );
      assert.is(text, sent);
    }
  }));

test('a chat provider gets one cache key per conversation, from the second request on', () =>
  withProxy({ yaml: 'providers: { chat: { prompt_cache: on } }' }, async (t) => {
    const run = (first: string) => [ask(first), { role: 'assistant', content: 'Yes?' }, ask('Go.')];
    const keys: unknown[] = [];
    for (const all of [run('One.'), run('Two.')]) {
      const long = [...all, { role: 'assistant', content: 'Done.' }, ask('More.')];
      for (const length of [1, 3, 5]) {
        const request = { model: 'gpt-5', messages: long.slice(0, length) };
        const { body, sent, text } = await send(t, request, CHAT);
        if (length === 1) assert.is(text, sent);
        keys.push(body['prompt_cache_key']);
      }
    }
    const [, one, oneAgain, , two, twoAgain] = keys;
    assert.match(String(one), /^svc-[\w-]{16}$/);
    assert.equal([oneAgain, twoAgain], [one, two]);
    assert.is.not(one, two);
    const more = { messages: run('One.'), prompt_cache_key: 'mine' };
    assert.is((await send(t, { model: 'gpt-5', ...more }, CHAT)).body['prompt_cache_key'], 'mine');
    const input = run('Three.');
    await send(t, { model: 'gpt-5', input: input.slice(0, 1) }, RESPONSES);
    const { body } = await send(t, { model: 'gpt-5', input }, RESPONSES);
    assert.match(String(body['prompt_cache_key']), /^svc-/);
    // Some clients write every field, with null for those they do not set.
    const nulls = { previous_response_id: null, prompt_cache_key: null };
    const again = await send(t, { model: 'gpt-5', input, ...nulls }, RESPONSES);
    assert.is(again.body['prompt_cache_key'], body['prompt_cache_key']);
    assert.is(again.text.split('prompt_cache_key').length, 2);
    const stored = { model: 'gpt-5', input, previous_response_id: 'resp_1' };
    assert.is((await send(t, stored, RESPONSES)).body['prompt_cache_key'], undefined);
  }));

test.after(closeClients);
test.run();
