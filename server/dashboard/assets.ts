/** The page's script and style, as `.ci/bundle.ts` writes them next to the serving module. */
import { readFile } from 'node:fs/promises';
import { madeByBuild } from '../http/made-by-build.ts';

export interface PageAssets {
  readonly script: Uint8Array;
  readonly style: Uint8Array;
}

/**
 * Creates a reader of both files, which caches them; no path is ever made from a request. Rejects
 * if the program was not bundled.
 */
export function createPageAssets(): () => Promise<PageAssets> {
  let reading: Promise<PageAssets> | undefined;
  async function read(): Promise<PageAssets> {
    const [script, style] = await Promise.all([
      readFile(madeByBuild('dashboard-page.js')),
      readFile(madeByBuild('dashboard-style.css')),
    ]);
    return { script, style };
  }
  return () => {
    if (reading === undefined) {
      reading = read();
      // A build running at this moment must not make the page unavailable forever.
      reading.catch(() => (reading = undefined));
    }
    return reading;
  };
}
