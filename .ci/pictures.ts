/**
 * `npm run pictures`: creates the pictures of the documentation again, each from a real run: a
 * proxy used by several agents in front of the fake provider, its dashboard in Chromium, commands
 * in a terminal. Look at each one before you commit it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { until, withLive } from '../fixtures/cli/live.ts';
import type { Live } from '../fixtures/cli/live.ts';
import { makePlace } from '../fixtures/cli/run.ts';
import { findTerminal, runInTerminal, typeInTerminal } from '../fixtures/cli/terminal.ts';
import { stored } from '../fixtures/ledger/temp-ledger.ts';
import { closeClients } from '../fixtures/server/exchange.ts';
import { USED_REPLIES, useProxy, usedSettings } from '../fixtures/server/used-proxy.ts';
import { terminalPicture } from './terminal-picture.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures', import.meta.url));
const SIZE = { width: 1280, height: 800 };
/** Lowest quality at which small text stays sharp. */
const QUALITY = 55;
/** Delay of the provider, so that times look realistic. */
const THINK_MS = 1400;

const found = findTerminal();
if (found === undefined) throw new Error('this needs `script` or `python3`, for a terminal');
const terminal = found;

function write(name: string, content: string | Buffer): void {
  writeFileSync(join(FOLDER, name), content);
  process.stdout.write(`${name}  ${(Buffer.byteLength(content) / 1024).toFixed(1)} kB\n`);
}

async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  });
  return Buffer.from(data, 'base64');
}

async function openPage(
  browser: Browser,
  colorScheme: 'light' | 'dark',
  url: string,
): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme, timezoneId: 'UTC' });
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await page.getByText('Loading…').waitFor({ state: 'detached' });
  return page;
}

async function dashboardPictures(url: string, request: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const overview = await openPage(browser, 'light', `${url}/dashboard`);
    await overview.locator('.chart canvas, .chart svg').first().waitFor();
    write('dashboard.webp', await pictureOf(overview));
    const one = await openPage(browser, 'dark', `${url}/dashboard/request/${request}`);
    await one.getByText('As sent', { exact: true }).first().waitFor();
    write('request.webp', await pictureOf(one));
  } finally {
    await browser.close();
  }
}

// oxlint-disable-next-line no-control-regex -- how the dashboard writes a line to its row
const ROW = /\u001b\[(\d+);1H\u001b\[2K([^]*?)(?=\u001b\[\d+;1H|\u001b\[\?|$)/g;

/** Returns the lines shown on a screen, with their colours. */
function screenLines(written: string): readonly string[] {
  const lines: string[] = [];
  const since = written.slice(written.lastIndexOf('\u001b[2J'));
  for (const [, row, text = ''] of since.matchAll(ROW)) lines[Number(row) - 1] = text;
  return Array.from(lines, (line) => line ?? '');
}

async function terminalDashboard({ place }: Live): Promise<void> {
  const size = { columns: 100, rows: 34 };
  const typing = typeInTerminal(terminal, place, ['dashboard'], { size });
  // A frame arrives in pieces: its last row must have an outcome.
  await typing.views(/Newest(?:[^]*?\bok\b){11}/);
  const lines = screenLines(typing.screen());
  typing.press('q');
  await typing.ended;
  write(
    'terminal.svg',
    terminalPicture(
      lines,
      'svc dashboard in a terminal: figures, warnings, providers and requests',
    ),
  );
}

/** Keeps the first table and the last line; the rest only matters to someone running it. */
async function demo(): Promise<void> {
  const place = makePlace();
  try {
    const lines = await runInTerminal(terminal, 80, place, ['demo']);
    const isBlank = (line: string): boolean => stripVTControlCharacters(line).trim() === '';
    const header = lines.findIndex((line) => /^turn\s/.test(stripVTControlCharacters(line)));
    const end = lines.findIndex((line, at) => at > header && isBlank(line));
    const last = lines.findLast((line) => !isBlank(line));
    if (header < 0 || last === undefined) throw new Error(lines.join('\n'));
    const shown = ['$ svc demo', ...lines.slice(0, end), '', '…', '', last];
    write(
      'demo.svg',
      terminalPicture(shown, 'svc demo: ten requests of a coding session, and what was saved'),
    );
  } finally {
    place.dispose();
  }
}

mkdirSync(FOLDER, { recursive: true });
await demo();
await withLive(
  async (live) => {
    const { upstream, url, place } = live;
    const ledger = join(place.home, 'monitor.db');
    const config = join(place.home, 'config.yaml');
    writeFileSync(config, `server: { port: 0, ws_port: 0 }\n${usedSettings(upstream.url)}`, {
      mode: 0o600,
    });
    const { code, stderr } = await live.svc('config', 'reload');
    if (code !== 0) throw new Error(stderr);
    upstream.script(undefined, 'slow-head', { delayMs: THINK_MS });
    const { long } = await useProxy({
      port: Number(new URL(url).port),
      keysFile: join(place.home, 'keys.json'),
      upstream,
      settled: (count) =>
        until(async () => (await stored(ledger)).length >= count, `${count} rows`),
    });
    await dashboardPictures(url, long);
    await terminalDashboard(live);
  },
  { replies: USED_REPLIES },
);
closeClients();
