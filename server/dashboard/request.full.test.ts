/**
 * The page of one request in a real browser: its times, its cost, its texts, and no JSON unless it
 * is opened.
 */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { answer } from '../../fixtures/upstream.ts';
import { jsonAnswer } from '../../fixtures/upstream/answer.ts';
import { NARROW, withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { askWithResult } from '../../fixtures/server/tool-result.ts';
import type { OneRequestJson } from './contract.ts';

const LINES = Array.from({ length: 300 }, (_, n) => `GET /items/${n % 7} 200 in 5 ms`);
const LOG = ['server started', ...LINES, 'ERROR at /items/needle: no such item', ...LINES].join(
  '\n',
);

/** Sends a request whose tool result is `LOG`; returns its id. */
async function ask(t: TestProxy): Promise<string> {
  await askWithResult(t, 'Bash', LOG);
  const [row] = await t.rows(1);
  return row!.id;
}

const YAML = 'compression: { threshold_tokens: 0 }';

/** Returns the solid bar and the figure of each stage. */
const barsOf = (page: Page) =>
  page.locator('.waterfall li:not(.scale)').evaluateAll((items) =>
    items.map((item) => ({
      name: item.querySelector('.stage-name')!.textContent,
      percent: Number.parseFloat(item.querySelector<HTMLElement>('.track i + i')!.style.width),
      isWithin:
        item.querySelector('.track i + i')!.getBoundingClientRect().right <=
        item.querySelector('.track')!.getBoundingClientRect().right + 3,
    })),
  );

test('the length of a bar matches its figure, and the cost is the sum of its units', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const id = await ask(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/request/${id}`);
    await page.locator('.waterfall li', { hasText: 'forward' }).waitFor();
    const {
      request,
      trace,
      cost_units: units,
    } = (await (
      await fetch(`${t.proxy.url}/dashboard/api/request/${id}`)
    ).json()) as OneRequestJson;
    const ends = trace!.stages.map((stage) =>
      Math.max(stage.last_out_ms ?? 0, (stage.first_in_ms ?? 0) + stage.duration_ms),
    );
    const totalMs = Math.max(trace!.duration_ms, ...ends);
    for (const { name, percent, isWithin } of await barsOf(page)) {
      const stage = trace!.stages.find((one) => one.node === name);
      assert.ok(Math.abs(percent - (100 * stage!.duration_ms) / totalMs) < 0.01, `${name}`);
      assert.ok(isWithin, `${name} ends on its track`);
    }
    await page.getByText('working, as the figure says').waitFor();
    const sum = units.reduce((total, { cost }) => total + (cost ?? 0), 0);
    assert.ok(Math.abs(sum - request!.cost!) < 1e-8, `${sum} of ${request!.cost}`);
    const costs = page.locator('section[aria-labelledby=cost-units] tbody tr');
    assert.equal((await costs.locator('th').allTextContents()).slice(0, 1), ['Input']);
    assert.is(await costs.count(), units.length);
    assert.equal(faults, []);
  }));

test('received and sent text are shown side by side, and a search also finds unchanged parts', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const id = await ask(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/request/${id}`);
    await page.getByText('As sent', { exact: true }).waitFor();
    const beyond = await page.locator('main').evaluate((main) => {
      const shown = main.querySelector('.page')!.getBoundingClientRect();
      return main.scrollHeight - shown.height;
    });
    assert.ok(beyond <= 1, `words for screen readers make the page ${beyond} pixels longer`);
    const left = page.locator('.diff.side .removed').first();
    const right = page.locator('.diff.side .compressed').first();
    const [one, other] = [await left.boundingBox(), await right.boundingBox()];
    assert.ok(one!.x + one!.width <= other!.x + 1, 'they are side by side');
    await page.getByLabel('Search the texts').fill('NEEDLE');
    await page.locator('.diff mark', { hasText: 'needle' }).first().waitFor();
    const lines = await page.locator('.diff .line').allTextContents();
    assert.ok(
      lines.every((line) => line.includes('needle')),
      lines.join('\n'),
    );
    await page.getByLabel('Search the texts').fill('nothing has this');
    await page.getByText('No text contains this.').waitFor();
    await page.getByLabel('Search the texts').fill('');
    await page.getByLabel('Side by side').uncheck();
    await page.locator('.diff.one .removed').first().waitFor();
    await page.locator('.diff .gap').first().waitFor();
    await page.getByLabel('All kept lines').check();
    await page.locator('.diff .gap').first().waitFor({ state: 'detached' });
    const narrow = await open(NARROW);
    await narrow.page.goto(`${t.proxy.url}/dashboard/request/${id}`);
    await narrow.page.locator('.diff.one .removed').first().waitFor();
    assert.equal([...faults, ...narrow.faults], []);
  }));

test('a provider’s refusal is shown with its reason, without keys', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const key = 'a-key-of-the-client-alone';
    const message = `messages.1: tool_use ids must have a result (key ${key})`;
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message } };
    t.upstream.script(
      undefined,
      answer(() => jsonAnswer(400, refusal)),
    );
    const refused = await exchange(t.proxy.port, {
      body: json(MESSAGE),
      headers: { 'x-api-key': key },
    });
    assert.is(refused.status, 400);
    assert.ok(refused.text.includes(key), 'the client gets what the provider sent');
    const [row] = await t.rows(1);
    for (const viewport of [undefined, NARROW]) {
      const { page, faults } = await open(viewport);
      await page.goto(`${t.proxy.url}/dashboard/request/${row!.id}`);
      await page
        .getByRole('alert')
        .getByText(
          'messages answered 400: messages.1: tool_use ids must have a result (key [redacted])',
        )
        .waitFor();
      assert.equal(faults, []);
    }
  }));

test('JSON and ids appear only in the raw view, which can be copied', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const id = await ask(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/request/${id}`);
    await page.locator('.waterfall li', { hasText: 'forward' }).waitFor();
    const text = await page.locator('main').innerText();
    assert.not.match(text, /[{}]|\["/);
    assert.not.ok(text.includes(id));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy id' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.is(await page.evaluate(() => navigator.clipboard.readText()), id);
    await page.getByText('Raw', { exact: true }).click();
    const raw = JSON.parse(await page.locator('.raw pre').innerText()) as OneRequestJson;
    assert.is(raw.request?.request_id, id);
    assert.is(raw.trace?.request_id, id);
    assert.equal(faults, []);
  }));

test.after(closeClients);
test.run();
