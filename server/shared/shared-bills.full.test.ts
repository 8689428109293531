/**
 * Background work at the provider, started by one proxy and fetched by both, with a shared real
 * Redis.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dollarsFor } from '../../fixtures/money/tables.ts';
import { withPlainServer } from '../../fixtures/plain-upstream.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { until, withSteadyPair } from '../../fixtures/server/redis.ts';

const MODEL = 'gpt-5';
const USAGE = { input_tokens: 100_000, output_tokens: 2000, total_tokens: 102_000 };
const ONCE = dollarsFor({ model: MODEL, input: 100_000, output: 2000 }, [])!;

const response = (id: string, status: string) => ({
  id,
  object: 'response',
  status,
  background: true,
  model: MODEL,
  output: [],
  usage: status === 'completed' ? USAGE : null,
});

/** Returns each request's cost in dollars from its row, once there are `rows` rows. */
async function costs(t: TestProxy, rows: number): Promise<readonly (number | null)[]> {
  return (await t.rows(rows)).map(({ costNanoUsd }) => costNanoUsd && costNanoUsd / 1e9);
}

const spentUsd = (t: TestProxy): number => t.proxy.services.spending.view().spentTodayNanoUsd / 1e9;

test('a background response is billed once, by the proxy that sees its end first', () =>
  withPlainServer((env, upstream) =>
    withSteadyPair(
      { env, yaml: 'budget: { enabled: true, per_day_usd: 1000 }\n' },
      async (one, other) => {
        const send = async (t: TestProxy, method: string, path: string, status: string) => {
          upstream.answer((answered) => {
            answered.setHeader('content-type', 'application/json');
            answered.end(JSON.stringify(response('resp_shared', status)));
          });
          const body = JSON.stringify({ model: MODEL, input: 'hello', background: true });
          const request = { method, path, ...(method === 'POST' && { body }) };
          assert.is((await exchange(t.proxy.port, request)).status, 200);
        };
        await send(one, 'POST', '/v1/responses', 'queued');
        await until('the limit holds an estimate', () => {
          one.proxy.services.deferredWork.flush();
          return spentUsd(one) > 0;
        });
        const path = '/v1/responses/resp_shared';
        await send(other, 'GET', path, 'completed');
        assert.ok(Math.abs((await costs(other, 1))[0]! - ONCE) < 1e-9);
        await until('the reservation is released', () => Math.abs(spentUsd(one)) < 1e-9);
        for (const t of [one, other, one]) await send(t, 'GET', path, 'completed');
        assert.equal(await costs(one, 3), [null, null, null]);
        assert.is((await costs(other, 2)).at(-1), null);
        assert.ok(Math.abs(spentUsd(other) + spentUsd(one) - ONCE) < 1e-9);
      },
    ),
  ));

test.after(closeClients);
test.run();
