/**
 * The Tab key in a real browser: it reaches every control, is never trapped, and the focus is
 * always visible.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';

const MAX_PRESSES = 150;

async function record(t: TestProxy): Promise<void> {
  for (let n = 0; n < 4; n += 1)
    t.proxy.services.ledger.record(
      ledgerRow({
        id: `row-${n}`,
        startedMs: Date.now() - 60_000 + n * 1000,
        endpoint: '/v1/messages',
        outcome: n === 0 ? 'error' : 'ok',
        status: n === 0 ? 503 : 200,
        provider: 'messages',
        model: `model-${n}`,
        sessionId: 'talk',
        costNanoUsd: 1000,
      }),
    );
  await t.rows(4);
}

/** Marks the focused element as reached; returns undefined if the page itself has the focus. */
function markFocused(): { readonly name: string; readonly isShown: boolean } | undefined {
  const element = document.activeElement;
  if (!(element instanceof HTMLElement) || element === document.body) return undefined;
  element.dataset['reached'] = 'yes';
  const shows = (pseudo?: string): boolean =>
    getComputedStyle(element, pseudo).outlineStyle !== 'none';
  return {
    name: `${element.tagName} ${element.className} ${element.textContent?.slice(0, 30)}`,
    isShown: shows() || shows('::after'),
  };
}

/** Returns the visible controls that were not reached. */
function unreachedControls(): readonly string[] {
  const usable = 'a[href], button:not(:disabled), select, input, summary, [tabindex="0"]';
  return [...document.querySelectorAll<HTMLElement>(usable)]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0)
    .filter((one) => one.dataset['reached'] !== 'yes')
    .map((one) => `${one.tagName} ${one.className} ${one.textContent?.slice(0, 30)}`);
}

test('the Tab key reaches every control of every page', () =>
  withBrowser({}, async (t, open) => {
    await record(t);
    const { page, faults } = await open();
    for (const view of [
      '',
      '/requests',
      '/request/row-3',
      '/conversations',
      '/savings',
      '/recipes',
      '/providers',
      '/errors',
      '/graph',
      '/log',
      '/login',
    ]) {
      await page.goto(`${t.proxy.url}/dashboard${view}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      let presses = 0;
      for (; presses < MAX_PRESSES; presses += 1) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(markFocused);
        if (at === undefined) break;
        assert.ok(at.isShown, `${view}: no outline at ${at.name}`);
      }
      assert.ok(presses < MAX_PRESSES, `${view}: it comes to an end`);
      assert.equal(await page.evaluate(unreachedControls), [], view);
    }
    assert.equal(faults, []);
  }));

test.after(closeClients);
test.run();
