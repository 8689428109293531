/** The options with which a proxy of this configuration would compress a new conversation. */
import { join } from 'node:path';
import type { Config } from '../../server/config/config.ts';
import type { DryOptions } from '../../stages/compress/pass/dry-run.ts';
import type { CliContext } from '../context.ts';
import { note } from '../screen/output.ts';

/**
 * Returns them with recipes and macros, including the requested `macro`, and with applied learned
 * settings.
 */
export async function jobOptions(
  config: Config,
  context: CliContext,
  macro?: string,
): Promise<DryOptions> {
  const [{ passOf }, { createPassJoiner, optionsAtStart }, { openLearned }] = await Promise.all([
    import('../../server/generation/compress-additions.ts'),
    import('../../stages/compress/pass/joined-pass.ts'),
    import('../../stages/learned/learned.ts'),
  ]);
  const pass = await passOf(config, context.clock, macro);
  const { config: atStart, recipes } = optionsAtStart(createPassJoiner(config.compression)(pass));
  const {
    enabled,
    mode,
    maxChars,
    logBudgetTokens,
    thresholdTokens,
    userProse,
    longResultsTokens,
    tools,
  } = atStart;
  const learned = await openLearned({
    file: join(config.home, 'learned.json'),
    clock: context.clock,
    onProblem: (error) => note(context, error.message),
  });
  return {
    mode: enabled ? mode : 'strict',
    maxChars,
    logBudgetTokens,
    thresholdTokens,
    userProse,
    longResultsTokens,
    tools,
    ...(recipes !== undefined && { recipes }),
    ...(learned.applied === undefined ? {} : { applied: learned.applied }),
  };
}
