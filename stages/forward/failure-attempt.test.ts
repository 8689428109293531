/**
 * Provider, model, status and cause of a failure belong to one attempt; a key blocks requests only
 * during its cooldown.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/clock.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { PATHS, bodyOf, traceOf, withPair, withSpare } from '../../fixtures/forward/pair.ts';

const REQUEST = { path: PATHS.messages, body: bodyOf('messages', false) };

test('a rate limit of one second blocks requests no longer than that', () => {
  // The clock only moves by hand, so no machine is too slow for a second.
  let nowMs = 1e6;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  return withPair({ yaml: withSpare('messages', 'providers:'), clock }, async (t) => {
    const stop = t.upstream.script(undefined, '429', { retryAfter: '600' });
    const requestedKeys: string[] = [];
    const send = async () => {
      const response = await exchange(t.proxy.port, REQUEST);
      assert.is(response.status, 200);
      requestedKeys.push((await traceOf(t, response)).provider ?? '');
    };
    await send();
    await send();
    const mark = () => t.proxy.services.states.get('messages')!.health.view();
    assert.is(mark().reason, 'rate_limited');
    // As if an operator or another proxy had released the key.
    t.proxy.services.states.get('messages')!.keys.reset();
    assert.is(mark().state, 'healthy');
    stop();
    await send();
    t.recover();
    t.upstream.script(undefined, '429', { retryAfter: '1', times: 1 });
    await send();
    await send();
    nowMs += 1500;
    await send();
    assert.equal(requestedKeys, ['spare', 'spare', 'messages', 'spare', 'spare', 'messages']);
  });
});

test('a rejection by a fallback is not reported as the failure of another provider', () =>
  withPair(
    {
      yaml: (url) => `providers:
  spare: { kind: messages, base_url: "${url}", api_key: spare-key }
fallback: [spare/other-model]
`,
    },
    async (t) => {
      t.upstream.script(undefined, '401');
      t.spare.script(undefined, '404');
      for (const [at, outcome] of ['asked', 'resting'].entries()) {
        const response = await exchange(t.proxy.port, REQUEST);
        const { error } = JSON.parse(response.text) as { error: { code: string; message: string } };
        assert.equal([response.status, error.code], [502, 'PROVIDER_001'], outcome);
        assert.is(
          error.message,
          "Provider rejected request: Invalid API key; 'spare', which stood in, answered 404",
        );
        const trace = await traceOf(t, response);
        assert.equal([trace.provider, trace.status], ['messages', 502], outcome);
        const row = (await t.rows(at + 1)).at(-1)!;
        const { model } = JSON.parse(REQUEST.body) as { model: string };
        assert.equal(
          [row.provider, row.model, row.status, row.errorCode],
          ['messages', model, 502, 'PROVIDER_001'],
        );
      }
    },
  ));

test.after(closeClients);
test.run();
