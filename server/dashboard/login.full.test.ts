/**
 * Dashboard login in a real browser: a key or a link grants access, which ends with the key or with
 * a logout.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { withBrowser } from '../../fixtures/server/dashboard-browser.ts';

test('the page asks for a key where one is required', () => {
  const key = `svc_${'k'.repeat(43)}`;
  return withBrowser(
    { yaml: `security: { api_key: ${key}, require_api_key: true }` },
    async (t, open) => {
      const { page } = await open();
      await page.goto(`${t.proxy.url}/dashboard`);
      await page.getByRole('heading', { name: 'Log in to this proxy' }).waitFor();
      await page.getByRole('link', { name: 'Documentation' }).click();
      await page.waitForURL(/\/docs$/);
      await page.getByRole('banner').getByRole('link', { name: 'Dashboard', exact: true }).click();
      await page.getByLabel('Proxy key').fill(key);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('waiting for the first request').waitFor();
    },
  );
});

test('a browser on another machine logs in with a key or a link, and logs out', () => {
  const key = `svc_${'k'.repeat(43)}`;
  return withBrowser({ yaml: `security: { api_key: ${key} }` }, async (t, open) => {
    const remote = async () => {
      const watched = await open();
      // A header that a tunnel adds, so that the request counts as another machine's.
      await watched.page.context().setExtraHTTPHeaders({ 'x-forwarded-for': '10.0.0.9' });
      return watched.page;
    };
    const page = await remote();
    await page.goto(`${t.proxy.url}/dashboard/requests?range=7d`);
    await page.getByLabel('Proxy key').fill('svc_wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('This key is not valid here.').waitFor();
    await page.getByLabel('Proxy key').fill(key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('None in this range of time').waitFor();
    assert.match(page.url(), /requests\?range=7d$/);
    assert.is(await page.evaluate(() => document.cookie), '', 'no script can read it');
    await page.reload();
    await page.getByText('Working').waitFor();
    t.configure(`security: { api_key: svc_${'n'.repeat(43)} }`);
    await t.proxy.reload();
    await page.reload();
    await page.getByLabel('Proxy key').waitFor();
    await page.getByLabel('Proxy key').fill(`svc_${'n'.repeat(43)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.route('**/dashboard/logout', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('alert').getByText('Still logged in').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Proxy key').waitFor();
    await page.goto(`${t.proxy.url}/dashboard`);
    await page.getByLabel('Proxy key').waitFor();
    assert.is(await page.getByRole('button', { name: 'Log out' }).count(), 0);
  });
});

test.after(closeClients);
test.run();
