/** Every figure in the table of columns is measured, summed, and shown on every surface. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../../../fixtures/paths.ts';
import { withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { FIGURES } from '../../../stages/ledger/columns.ts';
import { exportedRow } from '../../../stages/ledger/export.ts';
import { openReader } from '../../../stages/ledger/open-reader.ts';
import { totalsOf } from '../../../stages/ledger/queries.ts';
import { totalsJson } from '../../../stages/ledger/report.ts';

/** Usage that the provider reports in each of two responses, by figure. */
const USAGE = {
  input_tokens: 1000,
  output_tokens: 500,
  output_tokens_details: { thinking_tokens: 300 },
  server_tool_use: { web_search_requests: 4 },
};
const EXPECTED: Readonly<Record<string, number>> = { reasoning_tokens: 300, web_searches: 4 };

test('every figure equals what the provider reported, in each request and in all sums', () =>
  withPlainUpstream({}, async (t, upstream) => {
    assert.equal(
      FIGURES.map(({ name }) => name),
      Object.keys(EXPECTED),
    );
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const answer = { type: 'message', role: 'assistant', model: 'claude-opus-5-5', content: [] };
      response.end(JSON.stringify({ ...answer, stop_reason: 'end_turn', usage: USAGE }));
    });
    for (let turn = 0; turn < 2; turn += 1) await exchange(t.proxy.port, { body: json(MESSAGE) });
    const rows = await t.rows(2);
    const reader = await openReader(t.db);
    const totals = totalsJson(await totalsOf(reader)) as Readonly<Record<string, unknown>>;
    await reader.destroy();
    const get = async (path: string) =>
      (await exchange(t.proxy.port, { method: 'GET', path })).text;
    const { requests } = JSON.parse(await get('/dashboard/api/requests')) as {
      readonly requests: readonly Readonly<Record<string, unknown>>[];
    };
    const metrics = await get('/metrics');
    const page = readFileSync(join(projectRoot, 'docs/figures.md'), 'utf8');
    for (const [name, value] of Object.entries(EXPECTED)) {
      for (const row of rows) assert.is(exportedRow(row)[name], value, name);
      for (const request of requests) assert.is(request[name], value, name);
      assert.is(totals[name], 2 * value, name);
      assert.match(metrics, `\nsvc_${name}_total ${2 * value}\n`);
      assert.match(page, `\n| \`${name}\` | `);
    }
  }));

test.after(closeClients);
test.run();
