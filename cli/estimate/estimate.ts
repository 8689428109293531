/** `svc savings --estimate`: what svc would have saved on this machine's sessions. */
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../screen/output.ts';
import { followed, noteFailed, sessionsIn, settingsOf } from './sessions.ts';
import type { SessionFlags } from './sessions.ts';
import { estimateJson, printEstimate } from './view.ts';

export interface EstimateFlags extends SessionFlags {
  readonly mode: string | undefined;
}

/** Prints the estimate. */
export async function estimate(flags: EstimateFlags, context: CliContext): Promise<void> {
  const folders = await sessionsIn(flags, context);
  if (folders.length === 0)
    throw new SvcError('not_found', 'There are no sessions of coding agents on this machine', {
      cure: 'Name a folder of them: `svc savings --estimate DIR`.',
    });
  const [{ estimateSessions }, { jobOptions }] = await Promise.all([
    import('../../server/estimate/estimate.ts'),
    import('../preview/options.ts'),
  ]);
  const { config, prices, maxTimeMs } = await settingsOf(flags, context, flags.mode);
  const { coldTrimMs } = config.compression;
  const options = { ...(await jobOptions(config, context)), coldTrimMs };
  const { clock } = context;
  const report = await followed(context, (progress) =>
    estimateSessions({ folders, options, prices, clock, maxTimeMs, progress }),
  );
  if (report.files === 0 && report.left === 0) {
    noteFailed(context, report.failed);
    throw new SvcError('not_found', `There is no session in ${folders.join(', ')}`, {
      cure: 'Sessions of Claude Code, Codex, Gemini CLI and OpenCode are read.',
    });
  }
  if (flags.json) printJson(context, estimateJson(report, options));
  else await printEstimate(context, report, options);
}
