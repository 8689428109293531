/** Shared parts of the commands over session files: files, settings, and progress. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { FoldersRead } from '../../server/sessions/read-folders.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { configFlag, toLoadOptions, toMode, toWhole } from '../parse/flags.ts';
import { counted, note } from '../screen/output.ts';
import { createProgressView } from '../screen/progress.ts';

export interface SessionFlags {
  /** A folder or file; default: the folders of all known clients. */
  readonly folder: string | undefined;
  readonly config: string | undefined;
  readonly seconds: string | undefined;
  readonly json: boolean;
}

const SECONDS = 120;
const MAX_SECONDS = 86_400;
/** Failed files listed by name. */
const MAX_NAMED = 10;

/** Returns the configuration and prices that a proxy here would use. */
export async function settingsOf(
  { config: file, seconds }: SessionFlags,
  context: CliContext,
  mode?: string,
) {
  const [{ createPrices }, { loadConfig }, { ownPrices, priceOverrides }] = await Promise.all([
    import('../../stages/ledger/prices/prices.ts'),
    import('../../server/config/load.ts'),
    import('../../server/generation/providers.ts'),
  ]);
  const { config } = await loadConfig({
    ...toLoadOptions(configFlag(file), context),
    ...(mode !== undefined && { flags: { 'compression.mode': await toMode(mode) } }),
  });
  const limit = seconds === undefined ? SECONDS : toWhole(seconds, '--seconds', 1, MAX_SECONDS);
  const overrides = priceOverrides(config, new Map());
  return {
    config,
    prices: createPrices({ overrides, own: ownPrices(config) }),
    maxTimeMs: limit * 1000,
  };
}

/** Returns the given folder, or those of all known clients. */
export async function sessionsIn(
  { folder }: SessionFlags,
  context: CliContext,
): Promise<readonly string[]> {
  if (folder !== undefined) return [resolveFolder(folder, context)];
  const { sessionFolders } = await import('../../server/sessions/find.ts');
  return sessionFolders(context.userHome, context.env);
}

/** Its whole path; throws `not_found` where there is none. */
export function resolveFolder(folder: string, { cwd }: CliContext): string {
  const path = resolve(cwd, folder);
  if (!existsSync(path)) throw new SvcError('not_found', `There is no file or folder ${path}`);
  return path;
}

/** Shows the progress of the work on stderr. */
export async function followed<T>(
  context: CliContext,
  work: (show: (progress: { done: number; total: number }) => void) => Promise<T>,
): Promise<T> {
  const view = createProgressView(context);
  const startMs = context.clock.monotonicMs();
  try {
    return await work(({ done, total }) => {
      const seconds = (context.clock.monotonicMs() - startMs) / 1000;
      const filesPerSecond = seconds > 0 ? done / seconds : 0;
      const remainingMs =
        filesPerSecond > 0 ? ((total - done) / filesPerSecond) * 1000 : Number.POSITIVE_INFINITY;
      view.show({ done, total, filesPerSecond, remainingMs });
    });
  } finally {
    view.clear();
  }
}

/** Lists on stderr the files that could not be read, and why. */
export function noteFailed(context: CliContext, failed: FoldersRead['failed']): void {
  for (const { path, reason } of failed.slice(0, MAX_NAMED))
    note(context, `! ${shortPath(path, context)}: ${reason}`);
  if (failed.length > MAX_NAMED)
    note(context, `! and ${counted(failed.length - MAX_NAMED, 'file')} more`);
}
