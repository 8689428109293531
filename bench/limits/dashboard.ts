/** Measures the dashboard's frame times in a browser, if Chromium is installed. */
import { existsSync } from 'node:fs';
import { withBrowser } from '../../fixtures/server/dashboard-browser.ts';
import { scrollFast } from '../../fixtures/server/scrolling.ts';
import { minOf } from './limit.ts';
import type { LimitGroup, Measured } from './limit.ts';

/** Duration of a frame at 60 Hz. */
const FRAME_MS = 16;
const CHROMIUM = '/usr/bin/chromium';

async function frames(): Promise<readonly Measured[]> {
  if (!existsSync(CHROMIUM)) return [];
  const yaml = 'compression: { threshold_tokens: 0 }';
  const value = await minOf(3, async () => {
    let ms = Number.NaN;
    await withBrowser({ yaml }, async (t, open) => {
      const { page } = await open();
      ms = (await scrollFast(t, page)).frameMs;
    });
    return ms;
  });
  const what = 'work a frame while 10,000 requests are scrolled';
  return [{ what, unit: 'ms', max: FRAME_MS, value }];
}

/** Processor time. */
export const DASHBOARD_LIMITS: readonly LimitGroup[] = [
  { name: 'dashboard, best of three', measure: frames },
];
