/**
 * A reload that does not compile leaves everything as it was: limits, keys, prices, rules, log
 * level.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';

const BEFORE = `
logging: { level: error }
security: { rate_limit_per_minute: 777, api_key: the-key-from-before }
providers: { chat: { pricing: { input_cost_per_1m_tokens: 1, output_cost_per_1m_tokens: 1 } } }
budget: { enabled: true, per_day_usd: 500 }
`;

test('a fault changes nothing, and the next valid file is used', () =>
  withProxy({ yaml: BEFORE }, async (t) => {
    const { services } = t.proxy;
    const ask = () =>
      fetch(`${t.proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer mine' },
        body: JSON.stringify({ model: 'mine', messages: [{ role: 'user', content: 'Hi' }] }),
      });
    const state = () => ({
      level: services.log.level,
      budget: services.spending.view().limits.day,
      router: services.router.view().enabled,
      providers: [...services.states.view().keys()],
    });
    const before = state();
    const after = BEFORE.replace('777', '333')
      .replace('level: error', 'level: debug')
      .replace('per_day_usd: 500', 'per_day_usd: 1');
    t.configure(`${after}routing: { enabled: false }\ncustom_providers: nonsense\n`);
    await t.proxy.reload().then(
      () => assert.unreachable('it was refused'),
      (error: unknown) => assert.match((error as Error).message, /custom_providers/),
    );
    // A provider that points at the proxy itself is found only when the generation is compiled.
    const loop = `loop: { kind: chat, auth: none, base_url: "${t.proxy.url}" }`;
    t.configure(after.replace('providers: {', `providers: { ${loop},`));
    await t.proxy.reload().then(
      () => assert.unreachable('it was refused'),
      (error: unknown) => assert.match((error as Error).message, /points at this proxy itself/),
    );
    assert.equal(state(), before);
    const response = await ask();
    assert.is(response.status, 200);
    assert.is(response.headers.get('x-ratelimit-limit') ?? '777', '777');
    const [row] = await t.rows(1);
    assert.ok((row?.costNanoUsd ?? 0) > 0, 'the earlier price still applies');
    t.configure(after);
    await t.proxy.reload();
    assert.equal(state(), { ...before, level: 'debug', budget: 1_000_000_000 });
  }));

test.run();
