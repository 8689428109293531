/** What a proxy of this configuration would compress a new conversation with. */
import { join } from 'node:path';
import type { Config } from '../../server/config/config.ts';
import type { DryOptions } from '../../stages/compress/pass/dry-run.ts';
import type { CliContext } from '../context.ts';
import { note } from '../screen/output.ts';

/** With its recipes, and with what was learned and applied. */
export async function jobOptions(config: Config, context: CliContext): Promise<DryOptions> {
  const [{ configuredPlugins }, { loadRecipes }, { openLearned }] = await Promise.all([
    import('../../server/generation/configured-plugins.ts'),
    import('../../server/recipes/recipes.ts'),
    import('../../stages/learned/learned.ts'),
  ]);
  const {
    enabled,
    mode,
    maxChars,
    logBudgetTokens,
    thresholdTokens,
    userProse,
    longResultsTokens,
    tools,
  } = config.compression;
  const plugins = await configuredPlugins(config, context.clock);
  const recipes = await loadRecipes(config.compression.recipes, plugins);
  const learned = await openLearned({
    file: join(config.home, 'learned.json'),
    clock: context.clock,
    onTrouble: (error) => note(context, error.message),
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
