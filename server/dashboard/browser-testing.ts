/** A real Chromium before a real proxy, for tests. */
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startTestProxy } from '../../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../../fixtures/proxy.ts';

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

/** A page that notes whatever a good page does not do. */
export interface Watched {
  readonly page: Page;
  readonly faults: readonly string[];
}

export async function openPage(
  browser: Browser,
  t: TestProxy,
  viewport = WIDE,
): Promise<Watched & { readonly context: BrowserContext }> {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { host, port, wsPort } = t.proxy;
    const origins = [port, wsPort].map((own) => `http://${host}:${own}`);
    if (!origins.includes(new URL(request.url()).origin)) faults.push(`asks ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      throw new Error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { page, faults, context };
}

export async function withBrowser(
  options: ProxyOptions,
  use: (t: TestProxy, open: (viewport?: typeof WIDE) => Promise<Watched>) => Promise<void>,
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const t = await startTestProxy(options);
  try {
    await use(t, (viewport) => openPage(browser, t, viewport));
  } finally {
    await browser.close();
    await t.close();
  }
}
