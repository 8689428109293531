/**
 * Removes comments from compiled scripts, a fifth of their size in the package; the declarations
 * keep them. Source maps still refer to the sources.
 */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Marks the time of the last run; files that tsc wrote since then still have comments. */
const MARK = '.svc-stripped';
/** Files left unchanged: tests, and code bundled for browsers. */
const UNCHANGED_FILES = /\.test\.js$|-testing\.js$|^app\/|^server\/(?:dashboard|docs)\/page\//;

function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Rewrites the scripts in `folder` that changed since it last ran. */
export async function stripComments(folder: string): Promise<void> {
  const mark = join(folder, MARK);
  const sinceMs = changedMs(mark);
  const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && !UNCHANGED_FILES.test(path))
    .map((path) => join(folder, path))
    .filter((path) => changedMs(path) > sinceMs);
  await build({
    entryPoints: scripts,
    outbase: folder,
    outdir: folder,
    allowOverwrite: true,
    format: 'esm',
    target: 'node20',
    legalComments: 'none',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  writeFileSync(mark, '');
  const newestMs = Math.max(...scripts.map(changedMs), changedMs(mark));
  utimesSync(mark, newestMs / 1000, Math.ceil(newestMs) / 1000);
}
