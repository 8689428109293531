/**
 * Every page with content in a real Chromium, desktop and phone, light and dark, checked by
 * axe-core: WCAG 2.2 at levels A and AA, and axe-core's best practices.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NARROW, WIDE, withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { withUsedProxy } from '../../fixtures/server/used-proxy.ts';
import { readGuides } from '../docs/guide.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
};
const SCHEMES = ['light', 'dark'] as const;
const VIEWPORTS = { desktop: WIDE, phone: NARROW };

/** Colours are the same on a phone, so for large sets of pages they are checked on desktop only. */
const WITHOUT_COLORS: RunOptions = { ...RULES, rules: { 'color-contrast': { enabled: false } } };

/** Returns the page's current violations, one line each. */
async function violations(page: Page, options: RunOptions): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const results = await page.evaluate(
    (rules) =>
      (
        window as unknown as {
          axe: { run(at: Document, options: RunOptions): Promise<AxeResults> };
        }
      ).axe.run(document, rules),
    options,
  );
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0]!.target.join(' ')}`,
  );
}

/** A page that is still faulty after this time counts as faulty. */
const SETTLE_MS = 5000;

/**
 * Returns the violations in all four combinations of screen and scheme, each line with its
 * combination.
 */
async function inFourForms(page: Page, what: string, onPhone = RULES): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [form, viewport] of Object.entries(VIEWPORTS)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const check = () => violations(page, viewport === NARROW ? onPhone : RULES);
      let lines = await check();
      // The page reacts to a change of size with a short delay.
      for (const untilMs = Date.now() + SETTLE_MS; lines.length > 0 && Date.now() < untilMs;) {
        await page.waitForTimeout(200);
        lines = await check();
      }
      found.push(...lines.map((line) => `${what}, ${form}, ${colorScheme}: ${line}`));
      const folder = process.env['SVC_PICTURES'];
      if (folder !== undefined)
        await page.screenshot({
          path: `${folder}/${what.replaceAll(/[^\w]+/g, '-')}-${form}-${colorScheme}.png`,
        });
    }
  }
  return found;
}

async function isDrawn(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await page.getByText('Loading…').waitFor({ state: 'detached' });
}

test('axe-core finds no fault on any page or dialog of the dashboard', () =>
  withUsedProxy(async (t, open, { long, rescued, failed, conversation }) => {
    t.proxy.services.log.warning('a line of the log');
    const { page, faults } = await open();
    const found: string[] = [];
    const checkPage = async (path: string, use?: (page: Page) => Promise<void>): Promise<void> => {
      await page.setViewportSize(WIDE);
      await page.goto(path.startsWith('http') ? path : `${t.proxy.url}/dashboard${path}`);
      await isDrawn(page);
      await use?.(page);
      found.push(...(await inFourForms(page, path)));
    };
    for (const view of [
      '',
      '/requests',
      '/requests?failed=1&client=nightly-report',
      `/request/${rescued}`,
      `/request/${failed}`,
      '/conversations',
      `/conversation/${conversation}`,
      '/savings',
      '/recipes',
      '/providers',
      '/errors',
      '/graph',
      '/log',
      '/login',
      '/no-such-page',
      `http://127.0.0.1:${t.proxy.wsPort}/`,
    ])
      await checkPage(view);
    await checkPage(`/request/${long}`, async () => {
      await page.getByText('As sent', { exact: true }).first().waitFor();
      await page.getByText('Raw', { exact: true }).click();
      await page.locator('.raw pre').waitFor();
    });
    await checkPage('/requests', async () => {
      await page.getByText('Columns').click();
      await page.getByLabel('Conversation').waitFor();
    });
    await checkPage('', async () => {
      await page.getByRole('button', { name: 'Keys' }).click();
      await page.locator('dialog[open]').waitFor();
    });
    await checkPage('/login', async () => {
      await page.getByLabel('Proxy key').fill('svc_wrong');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('alert').waitFor();
    });
    assert.equal(found, []);
    // The browser itself logs that a key was refused.
    assert.equal(
      faults.filter((fault) => !fault.includes('401')),
      [],
    );
  }));

test('axe-core finds no fault on any page, search or menu of the documentation', () =>
  withBrowser({}, async (t, open) => {
    const { page, faults } = await open();
    const found: string[] = [];
    const names = ['', 'api', ...(await readGuides()).map(({ name }) => name)];
    for (const name of names) {
      await page.goto(`${t.proxy.url}/docs/${name}`);
      found.push(...(await inFourForms(page, name, WITHOUT_COLORS)));
    }
    await page.goto(`${t.proxy.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('exit codes');
    await page.locator('#found a').first().waitFor();
    found.push(...(await inFourForms(page, 'search')));
    await page.setViewportSize(NARROW);
    await page.goto(`${t.proxy.url}/docs`);
    await page.getByRole('link', { name: 'Pages', exact: true }).click();
    await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
    found.push(...(await inFourForms(page, 'menu')));
    assert.equal(found, []);
    assert.equal(faults, []);
  }));

test.after(closeClients);
test.run();
