/**
 * Models and providers that a proxy key may use: others are refused with 403, wherever a request
 * names them.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { isEnd, openTalk } from '../../../fixtures/server/websocket.ts';
import { openKeyStore } from '../../auth/auth.ts';
import type { KeyLimits } from '../../auth/auth.ts';

const REMOTE = { 'x-forwarded-for': '10.1.2.3' };

function keyWith(t: TestProxy, limits: KeyLimits): string {
  const file = join(dirname(t.db), 'keys.json');
  const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
  return store.create({ label: 'anna', ...limits }).key;
}

const ask = (t: TestProxy, key: string, body: object, path = '/v1/messages') =>
  exchange(t.proxy.port, { path, headers: { ...REMOTE, 'x-svc-key': key }, body: json(body) });

const messageTo = (model: string) => ({ ...MESSAGE, model });
const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] });

test('models that a key may not use are 403 with the allowed ones, and reach no provider', () =>
  withProxy({}, async (t) => {
    const key = keyWith(t, { models: ['claude-haiku*', 'gpt-5*'] });
    assert.is((await ask(t, key, messageTo('claude-haiku-4-5'))).status, 200);
    assert.is((await ask(t, key, messageTo('Claude-Haiku-4-5'))).status, 200);
    assert.is((await ask(t, key, chat('gpt-5-mini'), '/v1/chat/completions')).status, 200);
    const before = t.upstream.requests.length;
    const refused = await ask(t, key, messageTo('claude-opus-4-1'));
    assert.is(refused.status, 403);
    const { error } = JSON.parse(refused.body.toString()) as { error: Record<string, string> };
    assert.is(error['type'], 'forbidden');
    assert.match(
      error['message'] ?? '',
      "The proxy key 'anna' may not use model 'claude-opus-4-1': it may use claude-haiku*, gpt-5*",
    );
    assert.is((await ask(t, key, messageTo('my-claude-haiku'))).status, 403);
    assert.is((await ask(t, key, chat('gpt-4o'), '/v1/chat/completions')).status, 403);
    assert.is(t.upstream.requests.length, before);
    const rows = await t.rows(6);
    assert.equal(
      rows.map(({ status, keyLabel }) => [status, keyLabel]),
      [200, 200, 200, 403, 403, 403].map((status) => [status, 'anna']),
    );
  }));

test('a model is checked wherever the request names it', () =>
  withProxy({}, async (t) => {
    const key = keyWith(t, { models: ['claude-haiku*', 'gemini-2.5-flash', 'text-embedding-*'] });
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const path = (model: string) => `/v1beta/models/${model}:generateContent`;
    assert.is((await ask(t, key, { contents }, path('gemini-2.5-flash'))).status, 200);
    assert.is((await ask(t, key, { contents }, path('gemini-2.5-pro'))).status, 403);
    const body = { input: 'x' };
    const embed = (model: string) => ask(t, key, { ...body, model }, '/v1/embeddings');
    assert.is((await embed('text-embedding-3-small')).status, 200);
    assert.is((await embed('embed-large')).status, 403);
    const advised = {
      ...messageTo('claude-haiku-4-5'),
      tools: [{ type: 'advisor', model: 'claude-opus' }],
    };
    assert.is((await ask(t, key, advised)).status, 403);
    const fallbacks = {
      ...messageTo('claude-haiku-4-5'),
      fallbacks: [{ model: 'claude-opus-4-1' }],
    };
    assert.is((await ask(t, key, fallbacks)).status, 403);
    // With `default` the provider chooses the fallback model.
    const unnamed = { ...messageTo('claude-haiku-4-5'), fallbacks: 'default' };
    assert.is((await ask(t, key, unnamed)).status, 403);
    // The proxy does not read the models of a batch.
    const batch = { requests: [{ custom_id: '1', params: messageTo('claude-haiku-4-5') }] };
    assert.is((await ask(t, key, batch, '/v1/messages/batches')).status, 403);
  }));

test('an alias counts as its model, or may be allowed by its own name', () =>
  withProxy(
    {
      yaml: 'providers:\n  messages:\n    model_aliases:\n      quick: claude-haiku-4-5\n      best: claude-opus-4-1\n',
    },
    async (t) => {
      const real = keyWith(t, { models: ['claude-haiku*'] });
      assert.is((await ask(t, real, messageTo('quick'))).status, 200);
      assert.is((await ask(t, real, messageTo('best'))).status, 403);
      const named = keyWith(t, { models: ['best'] });
      // The proxy learns of a new key within a second.
      await t.proxy.reload();
      const untilMs = Date.now() + 60_000;
      while ((await ask(t, named, messageTo('best'))).status === 401 && Date.now() < untilMs);
      assert.is((await ask(t, named, messageTo('best'))).status, 200);
      assert.is((await ask(t, named, messageTo('claude-opus-4-0'))).status, 403);
    },
  ));

test('providers that a key may not use are 403, and are left out of the fallback', () =>
  withProxy({ yaml: 'routing:\n  fallback: [chat, messages]\n' }, async (t) => {
    const key = keyWith(t, { providers: ['messages'] });
    assert.is((await ask(t, key, messageTo('claude-haiku-4-5'))).status, 200);
    const refused = await ask(t, key, chat('gpt-5'), '/v1/chat/completions');
    assert.is(refused.status, 403);
    assert.match(refused.body.toString(), "may not use provider 'chat'");
    const [first] = await t.rows(2);
    const trace = await exchange(t.proxy.port, { method: 'GET', path: `/trace/${first?.id}` });
    assert.match(trace.body.toString(), 'chat: the proxy key may not use it');
  }));

test('the same applies to a frame of a WebSocket', () =>
  withProxy({}, async (t) => {
    const key = keyWith(t, { models: ['claude-haiku*'] });
    const client = await openTalk(t.proxy.wsPort, { ...REMOTE, 'x-svc-key': key });
    const [refused] = await client.answered(json(messageTo('claude-opus-4-1')));
    assert.is(refused?.error?.type, 'forbidden');
    assert.ok((await client.answered(json(messageTo('claude-haiku-4-5')))).some(isEnd));
    client.socket.terminate();
  }));

test.after(closeClients);
test.run();
