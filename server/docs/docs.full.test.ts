/**
 * The documentation in a real Chromium: search by keyboard, copying, light and dark, wide and
 * narrow.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NARROW, WIDE, withBrowser } from '../../fixtures/server/dashboard-browser.ts';

const PAGES = [
  '/docs',
  '/docs/settings',
  '/docs/compression',
  '/docs/commands',
  '/docs/deploy',
  '/docs/api',
];

test('search finds a page by keyboard alone, without loading anything from another host', () =>
  withBrowser({}, async (t, open) => {
    const { page, faults } = await open();
    await page.goto(`${t.proxy.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('exit codes');
    await page.locator('#found a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/commands/);
    await page.keyboard.press('/');
    await page.keyboard.type('zzzz');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    assert.is(await page.locator('#found').isVisible(), false);
    assert.equal(faults, []);
  }));

test('copies a block of code exactly', () =>
  withBrowser({}, async (t, open) => {
    const { page, context, faults } = await open();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${t.proxy.url}/docs/vault`);
    const text = await page.locator('main pre').first().textContent();
    await page.locator('.copy button').first().click({ force: true });
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.is(copied, text?.trimEnd());
    assert.equal(faults, []);
  }));

for (const [form, viewport] of Object.entries({ wide: WIDE, narrow: NARROW }))
  for (const colorScheme of ['light', 'dark'] as const)
    test(`pages fit the screen, ${form} and ${colorScheme}`, () =>
      withBrowser({}, async (t, open) => {
        const { page, faults } = await open(viewport);
        await page.emulateMedia({ colorScheme });
        for (const path of PAGES) {
          await page.goto(`${t.proxy.url}${path}`);
          const [width, shown] = await page.evaluate(() => [
            document.documentElement.scrollWidth,
            document.documentElement.clientWidth,
          ]);
          assert.ok(width <= shown, `${path} is ${width} wide`);
          const folder = process.env['SVC_PICTURES'];
          if (folder !== undefined)
            await page.screenshot({
              path: `${folder}/${path.slice(1).replaceAll('/', '-')}-${form}-${colorScheme}.png`,
            });
        }
        const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
        if (form === 'narrow') {
          assert.not.ok(await pages.isVisible());
          await page.getByRole('link', { name: 'Pages', exact: true }).click();
          await pages.waitFor();
          if (process.env['SVC_PICTURES'] !== undefined)
            await page.screenshot({
              path: `${process.env['SVC_PICTURES']}/menu-${colorScheme}.png`,
            });
        }
        await pages.getByRole('link', { name: 'Settings', exact: true }).click();
        await page.waitForURL(/\/docs\/settings/);
        assert.equal(faults, []);
      }));

test.run();
