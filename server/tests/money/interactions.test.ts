/**
 * Google's interactions are forwarded unread, and counted and priced by their own token field
 * names.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dollarsFor } from '../../../fixtures/money/tables.ts';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const MODEL = 'gemini-2.5-flash';
const usage = {
  total_input_tokens: 100_000,
  total_cached_tokens: 40_000,
  total_output_tokens: 2000,
  total_thought_tokens: 700,
  total_tool_use_tokens: 300,
  total_tokens: 103_000,
  input_tokens_by_modality: [{ modality: 'text', tokens: 100_000 }],
};
const done = { id: 'v1_1', object: 'interaction', status: 'completed', model: MODEL, usage };

function checkRow(row: { readonly [name: string]: unknown }): void {
  const { inputTokensSent, cacheReadTokens, outputTokens, model, costNanoUsd } = row;
  assert.equal(
    { inputTokensSent, cacheReadTokens, outputTokens, model },
    {
      inputTokensSent: 100_300,
      cacheReadTokens: 40_000,
      outputTokens: 2700,
      model: MODEL,
    },
  );
  const usd = dollarsFor({ model: MODEL, input: 60_300, read: 40_000, output: 2700 }, [])!;
  assert.ok(Math.abs(Number(costNanoUsd) / 1e9 - usd) < 1e-9, `${String(costNanoUsd)} of ${usd}`);
}

for (const stream of [false, true]) {
  test(`${stream ? 'a stream' : 'a document'}`, () =>
    withPlainUpstream({}, async (t, upstream) => {
      if (stream)
        upstream.answer(
          streamOf(
            {
              event_type: 'interaction.created',
              interaction: { id: 'v1_1', status: 'in_progress' },
            },
            { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'total_tokens' } },
            { event_type: 'interaction.completed', interaction: done },
          ),
        );
      else
        upstream.answer((response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ ...done, steps: [{ type: 'model_output' }] }));
        });
      const body = JSON.stringify({ model: MODEL, input: 'hi', stream });
      const path = '/v1beta/interactions';
      assert.is((await exchange(t.proxy.port, { path, body })).status, 200);
      const [row] = await t.rows(1);
      checkRow({ ...row! });
    }));
}

test('a background interaction is charged once, by the first fetch that finds it done', () =>
  withPlainUpstream({}, async (t, upstream) => {
    let answer: object = { id: 'v1_1', status: 'in_progress', model: MODEL };
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    const path = '/v1beta/interactions';
    const body = JSON.stringify({ model: MODEL, input: 'hi', background: true });
    await exchange(t.proxy.port, { path, body });
    await exchange(t.proxy.port, { method: 'GET', path: `${path}/v1_1` });
    answer = done;
    for (let fetches = 0; fetches < 3; fetches += 1)
      await exchange(t.proxy.port, { method: 'GET', path: `${path}/v1_1` });
    const rows = await t.rows(5);
    const paid = rows.filter(({ costNanoUsd }) => (costNanoUsd ?? 0) > 0);
    assert.is(paid.length, 1);
    checkRow({ ...paid[0]! });
  }));

test.after(closeClients);
test.run();
