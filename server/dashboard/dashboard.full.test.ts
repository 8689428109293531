/**
 * The dashboard in a real browser: it updates live, follows the filters in its URL, and renders
 * anything that comes from a request as plain text.
 */
import type { Page } from 'playwright-core';
import { scrollFast } from '../../fixtures/server/scrolling.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { NARROW, withBrowser } from '../../fixtures/server/dashboard-browser.ts';

const VIEWS = [
  '',
  '/live',
  '/requests',
  '/conversations',
  '/savings',
  '/providers',
  '/errors',
  '/graph',
  '/recipes',
  '/log',
  '/no-such-page',
];

const LOG = Array.from({ length: 400 }, (_, n) => `GET /items/${n % 7} 200 in 5 ms`).join('\n');

interface RequestOptions {
  readonly model?: string;
  readonly session?: string;
  readonly text?: string;
  readonly log?: string;
  readonly tools?: readonly object[];
}

async function ask(t: TestProxy, request: RequestOptions = {}): Promise<void> {
  const { model = 'claude-haiku-4-5', session = 'thread-1', text = 'Run it', log = LOG } = request;
  const { tools } = request;
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'make' } };
  const response = await fetch(`${t.proxy.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': 'mine',
      'x-session-id': session,
    },
    body: JSON.stringify({
      model,
      max_tokens: 9,
      ...(tools && { tools }),
      messages: [
        { role: 'user', content: text },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: log }] },
      ],
    }),
  });
  await response.text();
}

const YAML = 'compression: { threshold_tokens: 0 }';
const rowsOf = (page: Page) => page.locator('.list-body .list-row');

test('an empty ledger shows how to send the first request, and then the request', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    await page.getByText('waiting for the first request').waitFor();
    assert.ok((await page.content()).includes(`ANTHROPIC_BASE_URL=${t.proxy.url}`));
    await ask(t);
    await page.locator('[data-figure="requests"]', { hasText: '1' }).waitFor();
    await page.getByRole('link', { name: 'All requests' }).waitFor();
    assert.equal(faults, []);
  }));

test('requests appear when they end, and the figures are updated', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    await ask(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await rowsOf(page).first().waitFor();
    assert.is(await rowsOf(page).count(), 1);
    await ask(t, { model: 'claude-opus-4-5' });
    await page.locator('.list-body', { hasText: 'claude-opus-4-5' }).waitFor();
    assert.is(await rowsOf(page).count(), 2);
    const overview = await open();
    await overview.page.goto(`${t.proxy.url}/dashboard`);
    await overview.page.locator('[data-figure="requests"]', { hasText: '2' }).waitFor();
    await ask(t);
    await overview.page.locator('[data-figure="requests"]', { hasText: '3' }).waitFor();
    const { total_net_cost_saved_usd: saved } = (await (
      await fetch(`${t.proxy.url}/savings`)
    ).json()) as { total_net_cost_saved_usd: number };
    const printed = await overview.page.locator('[data-figure="net_cost_saved"]').textContent();
    assert.is(printed, `$${saved.toFixed(4)}`);
    assert.equal([...faults, ...overview.faults], []);
  }));

const statusOf = (page: Page) => page.locator('.top-end .status');
const providerOf = (page: Page, name: string) =>
  page.locator('.lines li', { has: page.getByText(name, { exact: true }) }).locator('.status');

test('the overview shows what works, what a fallback served and what is about to run out', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    t.configure(`${YAML}
budget: { enabled: true, per_day_usd: 1000 }
routing: { fallback: [spare] }
providers: { spare: { kind: messages, base_url: '${t.upstream.url}/spare', api_key: spare-key } }
`);
    await t.proxy.reload();
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    await ask(t);
    await page.locator('[data-figure="budget_left"]', { hasText: '100%' }).waitFor();
    assert.is(await statusOf(page).textContent(), 'Working');
    assert.is(await providerOf(page, 'messages').textContent(), 'healthy');
    for (const never of ['chat', 'generative', 'spare'])
      assert.is(await providerOf(page, never).textContent(), '–', never);
    assert.is(await page.locator('.banner').count(), 0);
    // The provider fails and the other one answers: the client does not notice, the dashboard shows
    // it.
    t.upstream.script(/^\/v1\//, 'status', { status: 503 });
    await ask(t);
    await page.locator('[data-figure="fallback"]', { hasText: '1' }).waitFor();
    await page.locator('[data-figure="attempts_failed"]', { hasText: '1' }).waitFor();
    await statusOf(page).getByText('Needs a look').waitFor();
    const why = page
      .locator('.banner p', { hasText: 'was answered by a fallback instead of provider messages' })
      .getByRole('link', { name: 'See why in the log' });
    await why.click();
    await page.getByText('another provider answers').waitFor();
    await page.goBack();
    assert.is(await page.locator('[data-figure="errors"]').textContent(), '0');
    await ask(t);
    await ask(t);
    // Three failures in a row must not be shown as healthy.
    await statusOf(page).getByText('Degraded').waitFor();
    await providerOf(page, 'messages').getByText('unhealthy').waitFor();
    assert.is(await providerOf(page, 'spare').textContent(), 'healthy');
    assert.equal(faults, []);
  }));

test('a provider that refuses every attempt is shown as unhealthy even if its breaker is closed', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    t.upstream.script(undefined, 'status', { status: 401 });
    await ask(t);
    await ask(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    await providerOf(page, 'messages').getByText('refuses every attempt').waitFor();
    await statusOf(page).getByText('Degraded').waitFor();
    await page.goto(`${t.proxy.url}/dashboard/providers`);
    await page.getByText('2 of 2 failed in the last hour').waitFor();
    assert.equal(faults, []);
  }));

test('the first screen of a desktop shows what failed, whose request it was and what to do', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    t.upstream.script(undefined, 'status', { status: 400 });
    await ask(t);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard`);
    const card = page.locator('.card', { hasText: 'What went wrong' });
    await card.getByText('400 from the provider').waitFor();
    await card.getByText(/^messages, for node$/).waitFor();
    const { y, height } = (await card.boundingBox())!;
    assert.ok(y + height <= page.viewportSize()!.height, `it ends at ${y + height}`);
    assert.equal(faults, []);
  }));

test('filters are kept in the URL: typed filters change it, and a URL sets its filters', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    await ask(t, { model: 'claude-haiku-4-5' });
    await ask(t, { model: 'claude-opus-4-5' });
    const undo = t.upstream.script(undefined, 'status', { status: 400 });
    await ask(t, { model: 'claude-opus-4-5' });
    undo();
    await t.rows(3);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await rowsOf(page).nth(2).waitFor();
    await page.getByLabel('Model').fill('opus');
    await page.waitForFunction(
      () => document.querySelectorAll('.list-body .list-row').length === 2,
    );
    assert.match(page.url(), /\?model=opus$/);
    await page.getByLabel('Outcome').selectOption('failed');
    await page.waitForFunction(
      () => document.querySelectorAll('.list-body .list-row').length === 1,
    );
    assert.match(page.url(), /model=opus&failed=1/);
    // A live row that does not match the filters is not added.
    await ask(t, { model: 'claude-haiku-4-5' });
    const again = await open();
    await again.page.goto(page.url());
    await rowsOf(again.page).first().waitFor();
    assert.is(await rowsOf(again.page).count(), 1);
    assert.is(await again.page.getByLabel('Model').inputValue(), 'opus');
    assert.is(await rowsOf(page).count(), 1);
    await page.getByLabel('Time').selectOption('7d');
    assert.match(page.url(), /range=7d/);
    await page.getByRole('link', { name: 'Savings' }).click();
    assert.match(page.url(), /\/savings\?.*model=opus/);
    await page.goBack();
    assert.match(page.url(), /\/requests\?/);
    assert.equal([...faults, ...again.faults], []);
  }));

test('typing into a filter sends one request when the typing stops, not one per letter', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    await ask(t, { model: 'claude-opus-4-5' });
    await ask(t, { model: 'claude-haiku-4-5' });
    await t.rows(2);
    const { page } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await rowsOf(page).nth(1).waitFor();
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/dashboard/api/')) requests.push(request.url());
    });
    await page.getByLabel('Model').evaluate((input: HTMLInputElement) => {
      for (const text of ['h', 'ha', 'hai', 'haik', 'haiku']) {
        input.value = text;
        input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }
    });
    await page.waitForFunction(
      () => document.querySelectorAll('.list-body .list-row').length === 1,
    );
    assert.is(requests.filter((url) => url.includes('model=')).length, 1, requests.join(' '));
    assert.match(page.url(), /model=haiku$/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await rowsOf(page).nth(1).waitFor();
    assert.is(await page.getByLabel('Model').inputValue(), '');
  }));

test('a request shows its stages, and the changes by compression line by line', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    await ask(t);
    const [row] = await t.rows(1);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await rowsOf(page).first().click();
    await page.locator('.waterfall li', { hasText: 'forward' }).waitFor();
    assert.ok(page.url().includes(`/request/${row!.id}`));
    assert.ok(await page.locator('.waterfall li', { hasText: 'compress' }).count());
    await page.locator('.diff .removed').first().waitFor();
    assert.ok((await page.locator('.diff .removed').count()) > 10);
    assert.ok(await page.locator('.diff .compressed').count());
    assert.match(
      (await page.locator('.diff-card .legend').textContent()) ?? '',
      /removed.*compressed/,
    );
    assert.equal(faults, []);
  }));

test('trimmed tool definitions are shown even if nothing else was changed', () =>
  withBrowser({ yaml: 'compression: { tools: trim }' }, async (t, open) => {
    const description = 'Runs a command.   \n\n\n        It may take long.   ';
    await ask(t, { log: 'short', tools: [{ name: 'Bash', description, input_schema: {} }] });
    const [row] = await t.rows(1);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/request/${row!.id}`);
    await page.getByRole('heading', { name: 'Tool 1' }).waitFor();
    assert.equal(faults, []);
  }));

test('a failed request is explained on its page, with dashes for figures that were not measured', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const undo = t.upstream.script(undefined, 'status', { status: 429 });
    await ask(t, { log: 'short' });
    undo();
    const [row] = await t.rows(1);
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/dashboard/request/${row!.id}`);
    await page.getByText('Nothing was changed').waitFor();
    const text = (await page.locator('main').textContent()) ?? '';
    assert.match(text, /error 429/);
    assert.not.match(text, /status 429/);
    assert.match(text, /Input–Output–Paid–/);
    assert.equal(faults, []);
  }));

const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '"><script>window.pwned=1</script>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '__proto__',
  '</style></script><svg onload=window.pwned=1>',
  '\u202egnp.exe',
  '../../../etc/passwd?a=b#c',
];

test('hostile names and prompts are shown as plain text in every view', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    for (const text of HOSTILE)
      await ask(t, { model: text, text, log: `${text}\n${LOG}\n${text}` });
    for (const session of HOSTILE.slice(0, 6)) await ask(t, { session });
    const undo = t.upstream.script(undefined, 'status', { status: 400 });
    await ask(t, { model: HOSTILE[0]!, session: HOSTILE[1]! });
    undo();
    const rows = await t.rows(HOSTILE.length + 7);
    const { page, faults } = await open();
    const sessions = HOSTILE.slice(0, 6).map((name) => `/conversation/${encodeURIComponent(name)}`);
    const details = rows.slice(0, 4).map(({ id }) => `/request/${id}`);
    const filters = HOSTILE.slice(0, 3).map(
      (text) => `/requests?model=${encodeURIComponent(text)}`,
    );
    for (const view of [...VIEWS, ...sessions, ...details, ...filters]) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page.locator('main > *').first().waitFor();
      await page.waitForTimeout(250);
      const found = await page.evaluate(() => ({
        pwned: 'pwned' in window,
        planted: document.querySelectorAll('main :is(img, script, iframe, style, object)').length,
        // Only relative links to our own pages: none has a scheme.
        links: [...document.querySelectorAll('a')].filter(
          (link) => link.protocol !== location.protocol || link.host !== location.host,
        ).length,
      }));
      assert.equal(found, { pwned: false, planted: 0, links: 0 }, view);
    }
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await page.locator('.list-body', { hasText: HOSTILE[0]! }).waitFor();
    assert.equal(faults, []);
  }));

test('a list of ten thousand requests keeps only a few rows in the document', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    const { page, faults } = await open();
    const { drawn, frameMs } = await scrollFast(t, page);
    process.stdout.write(`  ${frameMs.toFixed(1)} ms of work a frame\n`);
    assert.ok(drawn < 80, `${drawn} rows in the document`);
    await page.locator('[aria-rowindex="10001"]').waitFor();
    await page.locator('.list-row', { hasText: /^\D*/ }).first().waitFor();
    await page.locator('[data-row-link]').first().focus();
    await page.keyboard.press('Home');
    await page.locator('[aria-rowindex="2"] [data-row-link]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.locator('[aria-rowindex="4"] [data-row-link]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/request\/row-9997/);
    assert.equal(faults, []);
  }));

test('every view fits a phone, and has a heading and labels for all inputs', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    for (let n = 0; n < 4; n += 1)
      await ask(t, { model: `a-model-with-quite-a-long-name-${n}-20261122-preview` });
    const undo = t.upstream.script(undefined, 'status', { status: 429 });
    await ask(t);
    undo();
    const [row] = await t.rows(5);
    const { page, faults } = await open(NARROW);
    for (const view of [...VIEWS, `/request/${row!.id}`, '/conversation/thread-1']) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      await page.waitForTimeout(300);
      const found = await page.evaluate(() => ({
        broad: document.documentElement.scrollWidth > window.innerWidth,
        broadMain: document.querySelector('main')!.scrollWidth > window.innerWidth,
        headings: document.querySelectorAll('h1').length,
        nameless: [...document.querySelectorAll('input, select, button')].filter(
          (one) =>
            (one.textContent ?? '').trim() === '' && (one as HTMLInputElement).labels?.length === 0,
        ).length,
      }));
      assert.equal(found, { broad: false, broadMain: false, headings: 1, nameless: 0 }, view);
    }
    assert.equal(faults, []);
  }));

test('the WebSocket port serves the monitor at its root, updated live', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    for (const viewport of [undefined, NARROW]) {
      const { page, faults } = await open(viewport);
      const before = (await t.rows(0)).length;
      await page.goto(`http://127.0.0.1:${t.proxy.wsPort}/`);
      await page.locator('[data-figure="requests"]').waitFor();
      await ask(t, { model: HOSTILE[0]! });
      await page.locator('.list', { hasText: HOSTILE[0]! }).waitFor();
      const all = String(before + 1);
      await page.locator('[data-figure="requests"]', { hasText: all }).waitFor();
      await t.rows(before + 1);
      t.proxy.services.log.warning('a line of the log');
      await page.locator('.log', { hasText: 'a line of the log' }).waitFor();
      const isBroad = await page.evaluate(
        () => document.documentElement.scrollWidth > window.innerWidth,
      );
      assert.not(isBroad);
      await page.getByRole('link', { name: 'All requests' }).click();
      await rowsOf(page).first().waitFor();
      assert.match(page.url(), /\/dashboard\/requests$/);
      await page.goBack();
      await page.locator('.log', { hasText: 'a line of the log' }).waitFor();
      assert.equal(faults, []);
    }
  }));

test('a broken connection is restored, and shows requests that ended in the meantime', () =>
  withBrowser({ yaml: YAML }, async (t, open) => {
    await ask(t);
    const { page } = await open();
    await page.goto(`${t.proxy.url}/dashboard/requests`);
    await rowsOf(page).first().waitFor();
    await page.context().setOffline(true);
    await page.evaluate(() => window.dispatchEvent(new Event('offline')));
    await page.getByText('No connection').waitFor();
    await ask(t, { model: 'claude-opus-4-5' });
    await page.context().setOffline(false);
    await page.getByText('Working').waitFor();
    await page.locator('.list-body', { hasText: 'claude-opus-4-5' }).waitFor();
  }));

test.after(closeClients);
test.run();
