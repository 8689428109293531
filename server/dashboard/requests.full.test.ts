/** The list of requests in a real browser: order, search, columns, and keyboard navigation. */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { NARROW, withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

const AGENTS = ['claude-code', 'codex', 'aider'];
const PROJECTS = ['web', 'billing'];

/** Records rows whose costs all differ, with the most expensive row in the middle. */
async function record(t: TestProxy, count: number, firstAgeS = count): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    t.proxy.services.ledger.record(rowOf(n, Date.now() - (firstAgeS - n) * 1000, count));
    if (n % 500 === 499) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await t.rows(count);
}

function rowOf(n: number, startedMs: number, count: number): LedgerRow {
  return ledgerRow({
    id: `row-${n}`,
    startedMs,
    endpoint: '/v1/messages',
    outcome: 'ok',
    status: 200,
    provider: 'messages',
    model: `model-${n % 4}`,
    client: AGENTS[n % 3]!,
    project: PROJECTS[n % 2]!,
    keyLabel: n % 2 === 0 ? 'ci' : null,
    sessionId: `talk-${n % 5}`,
    latencyMs: n,
    inputTokensRaw: 100 + n,
    costNanoUsd: 1_000_000 * (count - Math.abs(count / 2 - n)),
  });
}

/** Returns the ids of the rows in the document, from the top. */
const idsOf = (page: Page) =>
  page
    .locator('.list-body .list-row')
    .evaluateAll((rows) =>
      rows
        .toSorted((a, b) => Number(a.ariaRowIndex) - Number(b.ariaRowIndex))
        .map((row) => row.querySelector('a')!.pathname.split('/').at(-1)),
    );
const firstIs = (page: Page, id: string) =>
  page.locator(`[aria-rowindex="2"] a[href*="/request/${id}"]`).waitFor();

test('clicking a column head sorts, the URL keeps the order, and new requests are sorted in', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 20);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await firstIs(page, 'row-19');
    await page.getByRole('button', { name: 'Cost' }).click();
    await firstIs(page, 'row-10');
    assert.match(page.url(), /sort=-cost$/);
    assert.equal(
      (await idsOf(page)).slice(0, 2),
      ['row-10', 'row-11'],
      'among equal rows the newest comes first',
    );
    await page.locator('[aria-sort="descending"]', { hasText: 'Cost' }).waitFor();
    // The most expensive request of all ends now.
    t.proxy.services.ledger.record({ ...rowOf(20, Date.now(), 20), costNanoUsd: 90_000_000 });
    await firstIs(page, 'row-20');
    await page.getByRole('button', { name: 'Cost' }).click();
    await firstIs(page, 'row-0');
    assert.match(page.url(), /sort=cost$/);
    const again = await open();
    await again.page.goto(page.url());
    await firstIs(again.page, 'row-0');
    for (const [head, first] of [
      ['Agent', 'row-20'],
      ['Project', 'row-19'],
      ['Key', 'row-20'],
    ] as const) {
      await page.getByRole('button', { name: head, exact: true }).click();
      await firstIs(page, first);
    }
    assert.equal([...faults, ...again.faults], []);
  }));

test('a search finds part of an id, agent, project or key, in live rows as well', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 20);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await firstIs(page, 'row-19');
    for (const [words, ids] of [
      ['row-13', ['row-13']],
      ['AIDER billing', ['row-17', 'row-11', 'row-5']],
      ['ci codex model-2', ['row-10']],
      ['talk-4 web', ['row-14', 'row-4']],
    ] as const) {
      await page.getByLabel('Search').fill(words);
      await page.waitForFunction(
        (count) => document.querySelectorAll('.list-body .list-row').length === count,
        ids.length,
      );
      assert.equal(await idsOf(page), ids, words);
      assert.is(new URL(page.url()).searchParams.get('q'), words);
    }
    // Only the row that contains the words is added.
    t.proxy.services.ledger.record({ ...rowOf(31, Date.now(), 20), id: 'row-31' });
    t.proxy.services.ledger.record({ ...rowOf(24, Date.now(), 20), id: 'row-24' });
    await firstIs(page, 'row-24');
    assert.equal(await idsOf(page), ['row-24', 'row-14', 'row-4']);
    await page.goto(`${t.proxy.url}/dashboard/requests?project=billing&key=ci`);
    await page.getByText('No request matches these filters.').waitFor();
    await page.getByRole('button', { name: 'key ci' }).click();
    await firstIs(page, 'row-31');
    assert.equal(faults, []);
  }));

test('the URL selects the columns, and wide tables can be scrolled', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 3);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    const heads = () => page.getByRole('columnheader').allTextContents();
    await firstIs(page, 'row-2');
    for (const head of ['Agent', 'Project', 'Key']) assert.ok((await heads()).includes(head), head);
    await page.getByText('Columns', { exact: true }).first().click();
    await page.getByRole('checkbox', { name: 'Id', exact: true }).check();
    await page.getByRole('checkbox', { name: 'Provider' }).uncheck();
    const chosen = new URL(page.url()).searchParams.get('columns') ?? '';
    assert.match(chosen, /^time,model,agent,.*,outcome,id$/);
    await page.goto(`${t.proxy.url}/dashboard/requests?columns=time,id,cost`);
    await firstIs(page, 'row-2');
    assert.equal(
      (await heads()).map((head) => head.replace(/ .$/, '')),
      ['Time', 'Cost', 'Id'],
    );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the id' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.is(await page.evaluate(() => navigator.clipboard.readText()), 'row-2');
    assert.match(page.url(), /\/requests\?/, 'the click opened no request');
    assert.equal(faults, []);
  }));

test('keys search, move, open, filter, show help and switch between views', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 60);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    await page.locator('main h1').waitFor({ state: 'attached' });
    await page.keyboard.press('/');
    await page.locator('input[name=q]:focus').waitFor();
    await page.keyboard.type('jg?');
    assert.is(await page.getByLabel('Search').inputValue(), 'jg?', 'letters are typed');
    await page.getByText('No request matches these filters.').waitFor();
    await page.getByLabel('Search').fill('');
    await page.waitForURL(/requests$/);
    await firstIs(page, 'row-59');
    await page.locator('main').focus();
    await page.keyboard.press('j');
    await page.locator('[aria-rowindex="2"] a:focus').waitFor();
    for (let n = 0; n < 40; n += 1) await page.keyboard.press('j');
    await page.locator('[aria-rowindex="42"] a:focus').waitFor();
    await page.keyboard.press('k');
    await page.locator('[aria-rowindex="41"] a:focus').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('[aria-rowindex="41"] a:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/request\/row-20/);
    for (const [letter, view] of [
      ['s', 'savings'],
      ['p', 'providers'],
      ['g', 'graph'],
      ['l', 'log'],
      ['r', 'requests'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(letter);
      await page.waitForURL(new RegExp(`/dashboard/${view}`));
    }
    await page.keyboard.press('f');
    await page.waitForURL(/failed=1/);
    await page.keyboard.press('f');
    await page.keyboard.press('r');
    await page.waitForURL(/range=today/);
    assert.equal(faults, []);
  }));

test('on a phone a menu sets the order, and more rows are loaded at the end of the list', () =>
  withBrowser({}, async (t, open) => {
    await record(t, 10_600, 20_000);
    const { page, faults } = await open(NARROW);
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await firstIs(page, 'row-10599');
    const list = page.locator('.list');
    const scrollToEnd = () => list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await scrollToEnd();
    await page.locator('[aria-rowcount="10301"]').waitFor();
    await scrollToEnd();
    await page.locator('[aria-rowcount="10601"]').waitFor();
    await page.locator('output', { hasText: '10,600 requests' }).waitFor();
    await page.getByLabel('Sort').selectOption('-latency');
    await firstIs(page, 'row-10599');
    await page.getByLabel('Sort').selectOption('latency');
    await firstIs(page, 'row-0');
    assert.match(page.url(), /sort=latency/);
    assert.equal(faults, []);
  }));

test.after(closeClients);
test.run();
