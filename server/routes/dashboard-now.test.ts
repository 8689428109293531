/** What the dashboard shows of stages and recipes: the sums are those of traces and of what `svc diff` shows. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import type { LostJson, RecipesJson, StagesJson } from '../dashboard/contract.ts';

const LOG = Array.from({ length: 300 }, (_, n) => `GET /items/${n % 7} 200 in 5 ms`).join('\n');

async function ask(t: TestProxy, toolName: string, log = LOG): Promise<void> {
  const call = { type: 'tool_use', id: 'toolu_1', name: toolName, input: { command: 'make' } };
  const response = await fetch(`${t.proxy.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'mine' },
    body: JSON.stringify({
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      messages: [
        { role: 'user', content: `Run ${toolName}` },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: log }] },
      ],
    }),
  });
  await response.text();
}

async function getJson<T>(t: TestProxy, path: string): Promise<T> {
  const response = await fetch(`${t.proxy.url}${path}`);
  assert.is(response.status, 200, path);
  return (await response.json()) as T;
}

test('recipes and rules count what they changed, and in what', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async (t) => {
    const before = await getJson<RecipesJson>(t, '/dashboard/api/recipes');
    assert.ok(before.recipes.length > 5, 'the bundled ones are listed');
    assert.ok(before.recipes.every(({ blocks, from }) => blocks === 0 && from === 'bundled'));
    await ask(t, 'Bash');
    await ask(t, 'Bash');
    // The same text of two tools would be kept under the first one's name.
    await ask(t, 'run_tests', LOG.replaceAll('items', 'orders'));
    const rows = await t.rows(3);
    const lost = await Promise.all(
      rows.map(({ id }) => getJson<LostJson>(t, `/v1/svc/lost/${id}`)),
    );
    const blocks = lost.flatMap((one) => one.blocks);
    assert.ok(blocks.length >= 3);
    const { recipes } = await getJson<RecipesJson>(t, '/dashboard/api/recipes');
    for (const name of new Set(blocks.flatMap(({ by }) => by))) {
      const found = recipes.find((one) => one.name === name.replace('recipe:', ''));
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

test('stages have the times of the traces that are kept', () =>
  withProxy({}, async (t) => {
    const none = await getJson<StagesJson>(t, '/dashboard/api/stages');
    assert.equal(none, { requests: 0, requests_per_second: 0, stages: [] });
    await ask(t, 'Bash', 'short');
    await ask(t, 'Bash', 'short');
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
      const own = traces.flatMap((trace) => trace.stages.filter((one) => one.node === node));
      assert.is(runs, own.length, node);
      const sum = own.reduce((total, stage) => total + stage.duration_ms, 0);
      // Each is rounded for itself.
      assert.ok(Math.abs(sum - busyMs) < 0.05, `${node}: ${sum} and ${busyMs}`);
    }
    assert.ok(stages.some(({ node }) => node === 'forward'));
  }));

test.after(closeClients);
test.run();
