/**
 * The dashboard's figures for stages and recipes: equal to the sums over traces and over `svc
 * diff`.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { askWithResult } from '../../fixtures/server/tool-result.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import type { LostJson, RecipesJson, StacksJson, StagesJson } from '../dashboard/contract.ts';

const LOG = Array.from({ length: 300 }, (_, n) => `GET /items/${n % 7} 200 in 5 ms`).join('\n');

async function getJson<T>(t: TestProxy, path: string): Promise<T> {
  const response = await fetch(`${t.proxy.url}${path}`);
  assert.is(response.status, 200, path);
  return (await response.json()) as T;
}

test('recipes and rules count their changes, by tool', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async (t) => {
    const before = await getJson<RecipesJson>(t, '/dashboard/api/recipes');
    assert.ok(before.recipes.length > 5, 'the bundled ones are listed');
    assert.ok(before.recipes.every(({ blocks, from }) => blocks === 0 && from === 'bundled'));
    await askWithResult(t, 'Bash', LOG);
    await askWithResult(t, 'Bash', LOG);
    // The same text from two tools would be recorded under the first tool's name.
    await askWithResult(t, 'run_tests', LOG.replaceAll('items', 'orders'));
    const rows = await t.rows(3);
    const lost = await Promise.all(
      rows.map(({ id }) => getJson<LostJson>(t, `/v1/svc/lost/${id}`)),
    );
    const blocks = lost.flatMap((one) => one.blocks);
    assert.ok(blocks.length >= 3);
    const { recipes } = await getJson<RecipesJson>(t, '/dashboard/api/recipes');
    for (const name of new Set(blocks.flatMap(({ by }) => by))) {
      const found = recipes.find((recipe) => recipe.name === name.replace('recipe:', ''));
      const own = blocks.filter(({ by }) => by.includes(name));
      const sum = (of: (block: (typeof own)[number]) => number) =>
        own.reduce((total, block) => total + of(block), 0);
      assert.equal(
        [found?.requests, found?.blocks, found?.tokens_before, found?.tokens_after],
        [3, own.length, sum(({ tokens }) => tokens.before), sum(({ tokens }) => tokens.after)],
        name,
      );
      assert.equal(
        found?.on.map((one) => [one.name, one.blocks]),
        [
          ['Bash', own.filter(({ tool }) => tool === 'Bash').length],
          ['run_tests', own.filter(({ tool }) => tool === 'run_tests').length],
        ],
        name,
      );
    }
  }));

test('stage times are those of the stored traces', () =>
  withProxy({}, async (t) => {
    const none = await getJson<StagesJson>(t, '/dashboard/api/stages');
    assert.equal(none, { requests: 0, requests_per_second: 0, stages: [] });
    await askWithResult(t, 'Bash', 'short');
    await askWithResult(t, 'Bash', 'short');
    await t.rows(2);
    const {
      requests,
      requests_per_second: rate,
      stages,
    } = await getJson<StagesJson>(t, '/dashboard/api/stages');
    assert.is(requests, 2);
    assert.ok(rate > 0);
    const traces = t.proxy.services.traces.list();
    for (const { node, requests: runs, busy_ms: busyMs } of stages) {
      const own = traces.flatMap((trace) => trace.stages.filter((stage) => stage.node === node));
      assert.is(runs, own.length, node);
      const sum = own.reduce((total, stage) => total + stage.duration_ms, 0);
      // Each figure is rounded separately.
      assert.ok(Math.abs(sum - busyMs) < 0.05, `${node}: ${sum} and ${busyMs}`);
    }
    assert.ok(stages.some(({ node }) => node === 'forward'));
  }));

test('stacks equal the ledger rows of each name, per time step and in total', () =>
  withProxy({}, async (t) => {
    const none = await getJson<StacksJson>(t, '/dashboard/api/stacks?by=model');
    assert.equal(none.stacks, []);
    const startMs = Date.now() - 600_000;
    for (let n = 0; n < 40; n += 1)
      t.proxy.services.ledger.record(
        ledgerRow({
          id: `row-${n}`,
          startedMs: startMs + n * 9000,
          endpoint: '/v1/messages',
          outcome: 'ok',
          model: `model-${n % 8}`,
          project: n % 2 === 0 ? 'web' : null,
          inputTokensSent: n,
          costNanoUsd: n % 8 === 7 ? null : 1000 * (n % 8),
        }),
      );
    const rows = await t.rows(40);
    const byModel = await getJson<StacksJson>(t, '/dashboard/api/stacks?by=model');
    assert.equal(
      byModel.stacks.map(({ name, rest, requests }) => [name, rest, requests]),
      [
        ['model-6', false, 5],
        ['model-5', false, 5],
        ['model-4', false, 5],
        ['model-3', false, 5],
        ['model-2', false, 5],
        [null, true, 15],
      ],
    );
    for (const { name, requests, sent_input_tokens: sent, series } of byModel.stacks) {
      const sum = (of: (step: (typeof series)[number]) => number) =>
        series.reduce((total, step) => total + of(step), 0);
      assert.is(
        sum((step) => step.requests),
        requests,
      );
      assert.is(
        sum((step) => step.sent_input_tokens),
        sent,
      );
      const own = rows.filter(({ model }) => model === name);
      if (name !== null)
        assert.is(
          sent,
          own.reduce((total, row) => total + row.inputTokensSent!, 0),
        );
    }
    const byProject = await getJson<StacksJson>(
      t,
      '/dashboard/api/stacks?by=project&model=model-1',
    );
    assert.equal(
      byProject.stacks.map(({ name, requests }) => [name, requests]),
      [[null, 5]],
    );
    for (const by of ['', 'toString', 'session'])
      assert.is((await fetch(`${t.proxy.url}/dashboard/api/stacks?by=${by}`)).status, 400, by);
  }));

test.after(closeClients);
test.run();
