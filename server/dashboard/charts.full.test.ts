/**
 * Charts in a real browser: stacking, links from a name to its requests, the time axis, and a
 * single point as a bar.
 */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';

const HOUR_MS = 3_600_000;

async function record(t: TestProxy, count: number, agoMs: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    t.proxy.services.ledger.record(
      ledgerRow({
        id: `row-${n}`,
        startedMs: Date.now() - agoMs + n * 1000,
        endpoint: '/v1/messages',
        outcome: 'ok',
        status: 200,
        provider: 'messages',
        model: `model-${n % 3}`,
        project: n % 2 === 0 ? 'web' : 'billing',
        client: 'codex',
        latencyMs: 100 + n,
        inputTokensRaw: 200,
        inputTokensSent: 100,
        savedTokens: 100,
        costNanoUsd: 5_000_000,
        costSavedNanoUsd: 1_000_000,
      }),
    );
  await t.rows(count);
}

const headOf = (page: Page, title: string) =>
  page.locator('.chart', { has: page.getByRole('heading', { name: title, exact: true }) });

test('charts are stacked by the group in the URL, and a name links to its requests', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 30, HOUR_MS / 2);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    await headOf(page, 'Time taken').waitFor();
    await page.getByLabel('Charts by').selectOption('project');
    assert.match(page.url(), /by=project$/);
    const requests = headOf(page, 'Requests');
    await requests.locator('li', { hasText: 'billing 15' }).waitFor();
    await requests.locator('li', { hasText: 'web 15' }).waitFor();
    const cost = await headOf(page, 'Cost').locator('tbody td').allTextContents();
    const sum = cost.reduce((total, text) => total + Number(text.replace('$', '')), 0);
    assert.ok(Math.abs(sum - 30 * 0.005) < 1e-9, `${sum}: each name has its own figures`);
    await page.getByLabel('Charts by').selectOption('client');
    await requests.locator('li', { hasText: 'codex 30' }).waitFor();
    await page.getByLabel('Charts by').selectOption('key');
    await requests.locator('li', { hasText: 'no key 30' }).waitFor();
    await page.getByLabel('Charts by').selectOption('model');
    await requests.getByRole('link', { name: 'model-1' }).click();
    await page.waitForURL(/\/requests\?model=model-1$/);
    await page.locator('output', { hasText: '10 requests' }).waitFor();
    assert.equal(faults, []);
  }));

test('the axis ends with the data, a single point is a bar, and lanes without savings are collapsed', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 1, 8 * HOUR_MS);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    const time = headOf(page, 'Time taken');
    await time.locator('tbody tr').first().waitFor({ state: 'attached' });
    assert.is(
      await time.locator('tbody tr').count(),
      1,
      'eight hours without a request make no axis',
    );
    // A bar is as wide as its time step on the axis; a point is five pixels wide.
    const colored = await time.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let max = 0;
      for (let y = 0; y < canvas.height; y += 1) {
        let row = 0;
        for (let x = 0; x < canvas.width; x += 1) {
          const at = 4 * (y * canvas.width + x);
          const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(at, at + 4);
          if (alpha > 150 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) row += 1;
        }
        max = Math.max(max, row);
      }
      return max;
    });
    assert.ok(colored > 30, `${colored} pixels`);
    await page.getByText('Our compression').waitFor();
    const folded = page.locator('.folded');
    assert.not(await folded.getByText('Our response cache').isVisible());
    await folded.locator('summary').click();
    await folded.getByText('Our response cache').waitFor();
    assert.equal(faults, []);
  }));

test('the last time step is as wide as the others', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 2, HOUR_MS);
    // Twelve times as much in the next step, so that nothing else reaches the upper half of the
    // chart.
    for (let n = 0; n < 24; n += 1)
      t.proxy.services.ledger.record(
        ledgerRow({
          id: `late-${n}`,
          startedMs: Date.now() - HOUR_MS + 60_000,
          endpoint: '/v1/messages',
          outcome: 'ok',
          status: 200,
          provider: 'messages',
          model: 'model-0',
          latencyMs: 100,
          costNanoUsd: 5_000_000,
        }),
      );
    await t.rows(26);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    const cost = headOf(page, 'Cost');
    await cost.locator('tbody tr').nth(1).waitFor({ state: 'attached' });
    const broadest = await cost.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let max = 0;
      for (let y = 0; y < canvas.height / 2; y += 1) {
        let row = 0;
        for (let x = 0; x < canvas.width; x += 1) {
          const at = 4 * (y * canvas.width + x);
          const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(at, at + 4);
          if (alpha > 150 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) row += 1;
        }
        max = Math.max(max, row);
      }
      return max;
    });
    assert.ok(broadest > 20, `${broadest} pixels`);
    assert.equal(faults, []);
  }));

test.after(closeClients);
test.run();
