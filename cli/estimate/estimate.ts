/** `svc savings --estimate`: what svc would have saved on the sessions that lie on this machine. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { configFlag, toLoadOptions, toWhole } from '../parse/flags.ts';
import { printJson } from '../screen/output.ts';
import { createProgressView } from '../screen/progress.ts';
import { estimateJson, printEstimate } from './view.ts';

export interface EstimateFlags {
  /** A folder or file; the folders of all known clients where left out. */
  readonly folder: string | undefined;
  readonly config: string | undefined;
  readonly mode: string | undefined;
  readonly seconds: string | undefined;
  readonly json: boolean;
}

const SECONDS = 120;
const MOST_SECONDS = 86_400;

/** Prints the estimate; the exit code. */
export async function estimate(flags: EstimateFlags, context: CliContext): Promise<number> {
  const folders = await sessionsIn(flags, context);
  if (folders.length === 0)
    throw new SvcError('not_found', 'No sessions of coding agents lie on this machine', {
      cure: 'Name a folder of them: `svc savings --estimate DIR`.',
    });
  const [{ estimateSessions }, { jobOptions }] = await Promise.all([
    import('../../server/estimate/estimate.ts'),
    import('../preview/options.ts'),
  ]);
  const { config, prices, maxTimeMs } = await settingsOf(flags, context);
  const options = await jobOptions(config, context);
  const { clock } = context;
  const report = await followed(context, (progress) =>
    estimateSessions({ folders, options, prices, clock, maxTimeMs, progress }),
  );
  if (report.files === 0 && report.failed.length === 0)
    throw new SvcError('not_found', `No session lies in ${folders.join(', ')}`, {
      cure: 'Sessions of Claude Code, Codex, Gemini CLI and OpenCode are read.',
    });
  if (flags.json) printJson(context, estimateJson(report, options));
  else await printEstimate(context, report, options);
  return 0;
}

/** What a proxy here would use: its configuration, and its prices. */
export async function settingsOf(
  { config: file, mode, seconds }: EstimateFlags,
  context: CliContext,
) {
  const [{ createPrices }, { loadConfig }, { priceOverrides }] = await Promise.all([
    import('../../stages/ledger/prices.ts'),
    import('../../server/config/load.ts'),
    import('../../server/generation/providers.ts'),
  ]);
  const { config } = await loadConfig({
    ...toLoadOptions(configFlag(file), context),
    ...(mode !== undefined && { flags: { 'compression.mode': mode } }),
  });
  const limit = seconds === undefined ? SECONDS : toWhole(seconds, '--seconds', 1, MOST_SECONDS);
  const overrides = priceOverrides(config, new Map());
  return { config, prices: createPrices({ overrides }), maxTimeMs: limit * 1000 };
}

/** The folder that was named, or those of all known clients. */
export async function sessionsIn(
  { folder }: EstimateFlags,
  context: CliContext,
): Promise<readonly string[]> {
  if (folder !== undefined) return [named(folder, context)];
  const { sessionFolders } = await import('../../server/sessions/find.ts');
  return sessionFolders(context.userHome, context.env);
}

function named(folder: string, { cwd }: CliContext): string {
  const path = resolve(cwd, folder);
  if (!existsSync(path)) throw new SvcError('not_found', `There is no file or folder ${path}`);
  return path;
}

/** Shows how far the work is, on stderr. */
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
