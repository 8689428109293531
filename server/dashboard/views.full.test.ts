/**
 * Layout of the views and how to reach them: the navigation, the keyboard, and the monitor on one
 * screen.
 */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { NARROW, WIDE, withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { addHeaders } from '../../fixtures/upstream/added-headers.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

const FORGED = 'gpt-\u202egnp.exe\u001b[31m';

async function record(t: TestProxy, count: number, more: Partial<LedgerRow> = {}): Promise<void> {
  for (let n = 0; n < count; n += 1)
    t.proxy.services.ledger.record(
      ledgerRow({
        id: `row-${n}`,
        startedMs: Date.now() - (count - n) * 1000,
        endpoint: '/v1/messages',
        outcome: n % 3 === 0 ? 'error' : 'ok',
        status: n % 3 === 0 ? 500 + n : 200,
        provider: 'messages',
        model: n === count - 1 ? FORGED : `model-${n}`,
        sessionId: `session-${n}-of-somebody-with-quite-a-long-name`,
        latencyMs: n,
        ...more,
      }),
    );
  await t.rows(count);
}

/** Returns how far the current view's link extends beyond the navigation, in pixels. */
const hiddenPart = (page: Page) =>
  page.locator('nav [aria-current]').evaluate((link) => {
    const own = link.getBoundingClientRect();
    const around = link.parentElement!.getBoundingClientRect();
    return Math.max(0, around.left - own.left, own.right - around.right);
  });

test('on a phone the navigation shows the current view', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 3);
    const { page, faults } = await open(NARROW);
    for (const view of ['', '/conversations', '/providers', '/errors', '/log']) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      assert.ok((await hiddenPart(page)) < 1, view);
    }
    await page.getByRole('link', { name: 'Savings' }).click();
    await page.getByRole('heading', { name: 'Savings', exact: true }).waitFor();
    assert.ok((await hiddenPart(page)) < 1, 'after a click');
    assert.equal(faults, []);
  }));

test('a new view starts at its top, and focus moves there if the link is gone', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 40);
    const { page, faults } = await open(NARROW);
    await page.goto(`${t.proxy.url}/dashboard/errors`);
    await page.locator('tbody tr').nth(12).waitFor();
    const main = page.locator('main');
    await main.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByRole('link', { name: 'Every failed request' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.list-row').first().waitFor();
    assert.is(await main.evaluate((element) => element.scrollTop), 0);
    await page.locator('main:focus').waitFor();
    assert.equal(faults, []);
  }));

test('the monitor shows requests, providers and the log on one desktop screen', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 60);
    t.proxy.services.log.warning('a line of the log');
    const { page, faults } = await open();
    await page.goto(`http://127.0.0.1:${t.proxy.wsPort}/`);
    await page.locator('.log', { hasText: 'a line of the log' }).waitFor();
    const seen = await page.evaluate(() => {
      const bottom = (selector: string) =>
        document.querySelector(selector)!.getBoundingClientRect().bottom;
      const list = document.querySelector('.list')!.getBoundingClientRect();
      return {
        isScrolled: document.querySelector('main')!.scrollHeight > window.innerHeight,
        isLogSeen: bottom('.monitor .log') <= window.innerHeight,
        rows: [...document.querySelectorAll('.list-row')].filter(
          (row) => row.getBoundingClientRect().bottom <= list.bottom + 1,
        ).length,
      };
    });
    assert.equal(
      { ...seen, rows: seen.rows > 5 },
      { isScrolled: false, isLogSeen: true, rows: true },
    );
    assert.equal(faults, []);
  }));

test('an unused proxy explains how to begin, and empty lists say why they are empty', () =>
  withBrowser({}, async (t, open) => {
    const { page, faults } = await open();
    await page.goto(`http://127.0.0.1:${t.proxy.wsPort}/`);
    await page.getByRole('link', { name: 'How to send the first request' }).click();
    await page.getByRole('heading', { name: 'waiting for the first request' }).waitFor();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await page.getByText('None in this range of time.').waitFor();
    await page.getByLabel('Model').fill('opus');
    await page.getByText('No request matches these filters.').waitFor();
    await page.goto(`${t.proxy.url}/dashboard/conversation/nobody`);
    await page.getByText('No request of this conversation').waitFor();
    assert.is(await page.locator('.figure .good, .bill .good').count(), 0);
    assert.equal(faults, []);
  }));

/** Counts first-level headings, and finds scrollable elements that the Tab key does not reach. */
const inspect = () => ({
  headings: document.querySelectorAll('h1').length,
  unreached: [...document.querySelectorAll<HTMLElement>('main, main *')]
    .filter((one) => {
      const { overflowX, overflowY } = getComputedStyle(one);
      const isBroad = one.scrollWidth > one.clientWidth + 1 && overflowX === 'auto';
      const isHigh = one.scrollHeight > one.clientHeight + 1 && overflowY === 'auto';
      return (isBroad || isHigh) && one.tabIndex < 0;
    })
    .filter((one) => one.querySelector('a, button, [tabindex="0"]') === null)
    .map((one) => one.className),
});

test('scrollable areas are reachable by keyboard, and a missing request has a heading', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 9);
    const { page } = await open(NARROW);
    for (const view of [
      '',
      '/conversations',
      '/savings',
      '/providers',
      '/errors',
      '/request/none',
    ]) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      // Overflow is known only after layout.
      let found = await page.evaluate(inspect);
      for (const until = Date.now() + 10_000; found.unreached.length > 0 && Date.now() < until;) {
        await page.waitForTimeout(100);
        found = await page.evaluate(inspect);
      }
      assert.equal(found, { headings: 1, unreached: [] }, view);
    }
  }));

test('the height of a view is that of its visible content', () =>
  withBrowser({}, async (t, open) => {
    // In steps of ten seconds the charts have 60 values each.
    await record(t, 600);
    const { page } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    await page.locator('.chart tbody tr').nth(50).waitFor({ state: 'attached' });
    const beyond = await page.locator('main').evaluate((main) => {
      const shown = main.querySelector('.page')!.getBoundingClientRect();
      return main.scrollHeight - (shown.bottom - main.getBoundingClientRect().top);
    });
    assert.ok(beyond <= 1, `${beyond} pixels`);
  }));

test('shows an unknown cost for a provider without prices', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 1, { inputTokensSent: 5, outputTokens: 5 });
    const { page } = await open();
    await page.goto(`${t.proxy.url}/dashboard/providers`);
    await page.getByText('cost unknown').waitFor();
  }));

test('a failed request names its provider on a phone, and shows only what was measured', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 4, { sessionId: 'talk' });
    const { page } = await open(NARROW);
    await page.goto(`${t.proxy.url}/dashboard/errors`);
    await page.locator('tbody tr').first().waitFor();
    const provider = await page.locator('tbody tr').first().getByText('messages').boundingBox();
    assert.ok(
      provider !== null && provider.x + provider.width <= NARROW.width,
      'it is scrolled into view',
    );
    await page.goto(`${t.proxy.url}/dashboard/conversation/talk`);
    await page.getByText('nothing measured · 0 ms').first().waitFor();
  }));

test('each page links to its documentation, which links back', () =>
  withBrowser({}, async (t, open) => {
    const { page, faults } = await open();
    for (const [view, name] of [
      ['', 'dashboard'],
      ['/recipes', 'recipes'],
      ['/errors', 'troubleshooting'],
      ['/graph', 'architecture'],
    ] as const) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page.getByRole('link', { name: 'Docs' }).click();
      await page.waitForURL(new RegExp(`/docs/${name}$`));
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.getByRole('banner').getByRole('link', { name: 'Dashboard', exact: true }).click();
      await page.waitForURL(/\/dashboard$/);
    }
    assert.equal(faults, []);
  }));

test('characters that reverse the text direction are shown escaped', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 4);
    const { page, faults } = await open();
    for (const view of ['', '/live', '/requests', '/savings', '/request/row-3']) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page
        .getByText(String.raw`gpt-\u202egnp.exe\x1b[31m`)
        .first()
        .waitFor();
      assert.not.match((await page.locator('main').textContent()) ?? '', '\u202e', view);
    }
    assert.equal(faults, []);
  }));

test('the windows of plans can be told apart, and do not overlap on a phone', () =>
  withBrowser({}, async (t, open) => {
    const window = 'anthropic-ratelimit-unified-7d_opus';
    const inSeconds = String(Math.floor(Date.now() / 1000) + 300_000);
    t.upstream.script(
      undefined,
      addHeaders({ [`${window}-utilization`]: '1.0', [`${window}-reset`]: inSeconds }),
    );
    for (const headers of [{}, { authorization: 'Bearer sk-ant-oat01-anna' }])
      await exchange(t.proxy.port, { body: json(MESSAGE), headers });
    for (const viewport of [NARROW, WIDE]) {
      const { page, faults } = await open(viewport);
      await page.goto(`${t.proxy.url}/dashboard`);
      await page.locator('.plan').nth(1).waitFor();
      const texts = await page.locator('.plan').allInnerTexts();
      assert.is(
        new Set(texts.map((text) => text.split('\n')[0])).size,
        2,
        'the owner of each conversation is shown',
      );
      const overlaps = await page.locator('.plan').evaluateAll((plans) =>
        plans.flatMap((plan) => {
          const boxes = [...plan.children].map((child) => child.getBoundingClientRect());
          return boxes.flatMap((a, index) =>
            boxes
              .slice(index + 1)
              .filter(
                (b) =>
                  a.left < b.right - 1 &&
                  b.left < a.right - 1 &&
                  a.top < b.bottom - 1 &&
                  b.top < a.bottom - 1,
              ),
          );
        }),
      );
      assert.is(overlaps.length, 0);
      assert.equal(faults, []);
    }
  }));

test.after(closeClients);
test.run();
