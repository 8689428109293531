/**
 * `/dashboard/api/tools`: sums by tool for a time range and filters, equal to those of `svc
 * attribution`.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { recordTools } from '../../fixtures/server/tool-rows.ts';
import { openReader } from '../../stages/ledger/open-reader.ts';
import { toolSums } from '../../stages/ledger/tools/tool-sums.ts';
import { toolTotalsJson } from '../../stages/ledger/tools/tool-totals.ts';
import type { ToolsJson } from '../routes/dashboard.ts';

async function get(t: TestProxy, query = ''): Promise<ToolsJson> {
  const response = await fetch(`${t.proxy.url}/dashboard/api/tools${query}`);
  assert.is(response.status, 200, query);
  return (await response.json()) as ToolsJson;
}

test('sums of tools and servers cover all requests, or those of one filter', () =>
  withProxy({}, async (t) => {
    assert.equal(await get(t), { tools: [], mcp_servers: [] });
    await recordTools(t);
    const reader = await openReader(t.db);
    try {
      const json = async (key: 'tool' | 'mcp', filter: object) =>
        (await toolSums(reader, [key], { sinceMs: 0, ...filter }))
          .filter(({ keys: [name] }) => name !== null)
          .map(({ keys: [name], totals }) => ({ name, ...toolTotalsJson(totals) }));
      for (const [query, filter] of [
        ['', {}],
        ['?project=shop', { project: 'shop' }],
        ['?key=anna', { keyLabel: 'anna' }],
        ['?model=OPUS', { model: 'opus' }],
        ['?client=codex&provider=messages', { client: 'codex', provider: 'messages' }],
        ['?since=2026-01-01', {}],
      ] as const)
        assert.equal(
          await get(t, query),
          { tools: await json('tool', filter), mcp_servers: await json('mcp', filter) },
          query,
        );
      const calls = async (query: string) =>
        (await get(t, query)).tools!.reduce((sum, { calls: one }) => sum + one, 0);
      const all = await calls('');
      const [shop, web] = [await calls('?project=shop'), await calls('?project=web')];
      assert.ok(shop > 0 && web > 0);
      assert.is(shop + web, all, 'each request has one project');
      assert.is(await calls('?until=2020-01-01'), 0);
    } finally {
      await reader.destroy();
    }
  }));

test('refuses a filter by which no tool sums are stored, instead of ignoring it', () =>
  withProxy({}, async (t) => {
    await recordTools(t);
    for (const query of ['?session=s', '?outcome=ok', '?failed=1', '?q=opus'])
      assert.equal(await get(t, query), { tools: null, mcp_servers: null }, query);
  }));

test.run();
