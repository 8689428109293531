import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

interface Sums {
  readonly cost: number | null;
  readonly cost_saved?: number | null;
  readonly unpriced: number;
}

async function read<T>(t: TestProxy, path: string): Promise<T> {
  const { text } = await exchange(t.proxy.port, { path, method: 'GET' });
  return JSON.parse(text) as T;
}

/** Returns cost and `unpriced` from every surface that reports the session's sums. */
async function reported(t: TestProxy) {
  const stats = await read<{ session: Sums; today: Sums; by_model: Record<string, Sums> }>(
    t,
    '/stats',
  );
  const session = await read<{ total_cost: number | null; unpriced: number }>(t, '/stats/session');
  const sums = { session: stats.session, today: stats.today, ...stats.by_model };
  return [
    ...Object.entries(sums).map(([name, { cost, unpriced }]) => [name, cost, unpriced] as const),
    ['summary', session.total_cost, session.unpriced] as const,
  ];
}

/** Only one of the two providers has a price; the other's model is in no price list. */
const PRICED = `providers:
  chat: { pricing: { input_cost_per_1m_tokens: 1000000, output_cost_per_1m_tokens: 0 } }
`;

test('a request without a known price has an unknown cost, not zero', () =>
  withProxy({ yaml: PRICED }, async (t) => {
    const stop = t.upstream.script(undefined, '400');
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    stop();
    await t.rows(1);
    // There was no response, so there is nothing to pay and no missing price.
    assert.equal((await reported(t)).slice(0, 2), [
      ['session', 0, 0],
      ['today', 0, 0],
    ]);

    await exchange(t.proxy.port, { body: json(MESSAGE) });
    await t.rows(2);
    assert.equal(await reported(t), [
      ['session', null, 1],
      ['today', null, 1],
      [MESSAGE.model, null, 1],
      ['summary', null, 1],
    ]);
    const { stats } = await read<{ stats: Sums }>(t, '/health');
    assert.equal([stats.cost, stats.cost_saved, stats.unpriced], [null, null, 1]);
    const saved = await read<Record<string, unknown>>(t, '/savings');
    assert.equal([saved['total_cost_saved_usd'], saved['unpriced']], [null, 1]);

    await exchange(t.proxy.port, { path: '/v1/chat/completions', body: json(CHAT) });
    const cost = (await t.rows(3)).at(-1)?.costNanoUsd;
    assert.ok(cost);
    assert.equal(await reported(t), [
      ['session', cost / 1e9, 1],
      ['today', cost / 1e9, 1],
      [MESSAGE.model, null, 1],
      [CHAT.model, cost / 1e9, 0],
      ['summary', cost / 1e9, 1],
    ]);
  }));

test.after(closeClients);
test.run();
