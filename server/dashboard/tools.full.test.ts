/**
 * Token use by tool in a browser: desktop and phone, light and dark. `SVC_PICTURES=folder` keeps
 * screenshots.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NARROW, WIDE, withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { recordTools } from '../../fixtures/server/tool-rows.ts';

const cellsOf = (page: Page, title: string) =>
  page
    .getByRole('region', { name: title })
    .locator('tbody tr')
    .first()
    .locator('th, td')
    .allTextContents();

test('lists tools and MCP servers with calls, results and the cost of their definitions', () =>
  withBrowser({}, async (t, open) => {
    await recordTools(t);
    const stats = (await (await fetch(`${t.proxy.url}/dashboard/api/tools`)).json()) as {
      readonly tools: readonly { readonly name: string; readonly calls: number }[];
    };
    for (const [size, viewport] of Object.entries({ desk: WIDE, phone: NARROW }))
      for (const scheme of ['light', 'dark'] as const) {
        const { page, faults, context } = await open(viewport);
        await page.emulateMedia({ colorScheme: scheme });
        await page.goto(`${t.proxy.url}/dashboard/savings`);
        const tools = page.getByRole('region', { name: 'By tool' });
        await tools.locator('tbody tr').nth(3).waitFor();
        const [name, calls] = await cellsOf(page, 'By tool');
        const [first] = stats.tools;
        assert.equal([name, calls], [first!.name, String(first!.calls)], `${size} ${scheme}`);
        const servers = page.getByRole('region', { name: 'By MCP server' });
        assert.equal((await servers.locator('tbody th').allTextContents()).toSorted(), [
          'database',
          'github',
        ]);
        // The name, its calls and the cost of its definitions are visible without scrolling
        // sideways.
        const edge = await tools.locator('tbody tr').first().locator('th, td').nth(2).boundingBox();
        assert.ok(edge !== null && edge.x + edge.width <= viewport.width, `${size}: in sight`);
        const beyond = await page.evaluate(
          () => document.documentElement.scrollWidth - window.innerWidth,
        );
        assert.ok(beyond <= 0, `${size}: the page is as broad as the screen`);
        const folder = process.env['SVC_PICTURES'];
        if (folder !== undefined) {
          await servers.scrollIntoViewIfNeeded();
          await page.screenshot({ path: join(folder, `tools-${size}-${scheme}.png`) });
        }
        assert.equal(faults, []);
        await context.close();
      }
  }));

test('filters apply to tools, and a filter without effect on them is named', () =>
  withBrowser({}, async (t, open) => {
    await recordTools(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/savings?project=shop`);
    const tools = page.getByRole('region', { name: 'By tool' });
    await tools.locator('tbody tr').first().waitFor();
    const shop = await tools.locator('tbody th').allTextContents();
    assert.ok(shop.includes('Bash') && shop.includes('Read'), shop.join());
    assert.not(shop.includes('mcp__database__run_a_read_only_query'), shop.join());
    await page.goto(`${t.proxy.url}/dashboard/savings?q=opus`);
    await page.getByText('Sums by tool cover all requests').waitFor();
    assert.is(await tools.count(), 0);
    assert.equal(faults, []);
  }));

test.run();
