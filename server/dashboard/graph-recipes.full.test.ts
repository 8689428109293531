/** The graph and recipes pages in a real browser: they update live. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NARROW, withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { askWithResult } from '../../fixtures/server/tool-result.ts';

const LOG = Array.from({ length: 300 }, (_, n) => `GET /items/${n % 7} 200 in 5 ms`).join('\n');

const YAML = 'compression: { threshold_tokens: 0 }';

test('the graph shows rate, time and share of each stage as requests pass', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/graph`);
    await page.getByText('No request has passed it yet.').waitFor();
    await askWithResult(t, 'run_server', LOG);
    await page.getByText(/requests a minute; times are means of the newest 1,/).waitFor();
    const forward = page.locator('.node[data-node=forward]').first();
    assert.match((await forward.textContent()) ?? '', /1 ×.*m?s.*provider/);
    const compress = page.locator('.node[data-node=compress]').first();
    assert.match((await compress.textContent()) ?? '', /1 ×[\d. ]+m?s[\d.]+%/);
    await askWithResult(t, 'run_server', LOG);
    await page.getByText(/means of the newest 2,/).waitFor();
    const shares = await page.locator('.node .share').allTextContents();
    const sum = shares.reduce((total, text) => total + (Number.parseFloat(text) || 0), 0);
    assert.ok(sum > 90 && sum < 110, `${sum} percent`);
    assert.equal(faults, []);
  }));

test('a provider inside forward has a time, which is not part of svc’s own', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const module = join(dirname(t.db), 'acme.mjs');
    const source = `export default { name: 'acme', kind: 'chat', baseUrl: '${t.upstream.url}', auth: 'none', request() {} };`;
    writeFileSync(module, source, { mode: 0o600 });
    t.configure(
      `custom_providers: [{ module: ${module}, name: acme }]\nrouting: { primary: acme }\n`,
    );
    await t.proxy.reload();
    await askWithResult(t, 'run_server', LOG);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/graph`);
    const provider = page.locator('.node[data-node="provider:acme"]');
    await page.getByText(/times are means of the newest 1,/).waitFor();
    assert.match((await provider.textContent()) ?? '', /1 ×[\d. ]+m?s$/);
    const shares = await page.locator('ol.graph').first().locator('.share').allTextContents();
    const sum = shares.reduce((total, text) => total + (Number.parseFloat(text) || 0), 0);
    assert.ok(sum > 90 && sum < 110, `${sum} percent`);
    assert.equal(faults, []);
  }));

test('recipes show what they saved and on which input, and unused ones are collapsed', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    for (const viewport of [undefined, NARROW]) {
      const { page, faults } = await open(viewport);
      await page.goto(`${t.proxy.url}/dashboard/recipes`);
      if (viewport === undefined) {
        await page.getByText('No recipe has changed anything yet.').waitFor();
        await askWithResult(t, 'run_server', LOG);
      }
      const used = page.locator('section[aria-label="Recipes that changed something"]');
      await used.locator('tbody tr', { hasText: 'run_server' }).first().waitFor();
      const unused = page.locator('details.unused');
      await unused.locator('summary').click();
      assert.ok((await unused.locator('tbody tr').count()) > 5);
      assert.equal(faults, []);
    }
  }));

test.after(closeClients);
test.run();
