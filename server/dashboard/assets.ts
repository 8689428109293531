/** The page's script and style, as `.ci/bundle.ts` has left them beside whoever serves them. */
import { readFile } from 'node:fs/promises';
import { madeByBuild } from '../http/made-by-build.ts';

export interface PageAssets {
  readonly script: Uint8Array;
  readonly style: Uint8Array;
}

/** Reads both files, once that is possible; no path is ever made from a request. Rejects where the program was not bundled. */
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
      // A build that goes on at this very moment must not leave the page away for good.
      reading.catch(() => (reading = undefined));
    }
    return reading;
  };
}
