/** `svc savings --estimate`: what svc would have saved on the sessions that lie on this machine. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { EstimateReport } from '../../server/estimate/estimate.ts';
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
  const [sessions, { estimateSessions }, { createPrices }, { loadConfig }, { jobOptions }, own] =
    await Promise.all([
      import('../../server/sessions/find.ts'),
      import('../../server/estimate/estimate.ts'),
      import('../../stages/ledger/prices.ts'),
      import('../../server/config/load.ts'),
      import('../preview/options.ts'),
      import('../../server/generation/providers.ts'),
    ]);
  const folders =
    flags.folder === undefined
      ? sessions.sessionFolders(context.userHome, context.env)
      : [named(flags.folder, context)];
  if (folders.length === 0)
    throw new SvcError('not_found', 'No sessions of coding agents lie on this machine', {
      cure: 'Name a folder of them: `svc savings --estimate DIR`.',
    });
  const { config } = await loadConfig({
    ...toLoadOptions(configFlag(flags.config), context),
    ...(flags.mode !== undefined && { flags: { 'compression.mode': flags.mode } }),
  });
  const options = await jobOptions(config, context);
  const seconds =
    flags.seconds === undefined ? SECONDS : toWhole(flags.seconds, '--seconds', 1, MOST_SECONDS);
  const report = await followed(context, (progress) =>
    estimateSessions({
      folders,
      options,
      prices: createPrices({ overrides: own.priceOverrides(config, new Map()) }),
      clock: context.clock,
      maxTimeMs: seconds * 1000,
      progress,
    }),
  );
  if (report.files === 0 && report.failed.length === 0)
    throw new SvcError('not_found', `No session lies in ${folders.join(', ')}`, {
      cure: 'Sessions of Claude Code, Codex, Gemini CLI and OpenCode are read.',
    });
  if (flags.json) printJson(context, estimateJson(report, options));
  else await printEstimate(context, report, options);
  return 0;
}

function named(folder: string, { cwd }: CliContext): string {
  const path = resolve(cwd, folder);
  if (!existsSync(path)) throw new SvcError('not_found', `There is no file or folder ${path}`);
  return path;
}

async function followed(
  context: CliContext,
  work: (show: (progress: { done: number; total: number }) => void) => Promise<EstimateReport>,
): Promise<EstimateReport> {
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
