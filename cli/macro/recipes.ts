/** The recipe that a step names: a file, one of the configuration, of a plugin, or a bundled one. */
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import type { Recipe } from '../../stages/compress/recipe/recipe.ts';
import type { CliContext } from '../context.ts';

/** Throws `not_found` for a name that none has, `config` for a file that cannot be used. */
export async function recipeNamed(
  name: string,
  config: () => Promise<Config>,
  context: CliContext,
): Promise<Recipe> {
  const { readRecipe, readRecipes } = await import('../../server/recipes/recipes.ts');
  if (/\.ya?ml$/.test(name)) return (await readRecipe(resolve(context.cwd, name))).recipe;
  const { bundledRecipes } = await import('../../server/bundled-recipes.ts');
  const configured = await config();
  const paths = [configured.compression.recipes].flat();
  const own = await readRecipes(paths.filter((one) => one !== 'bundled' && one !== 'off'));
  const isNamed = (one: Recipe): boolean => one.name === name;
  const found = own.find(isNamed) ?? bundledRecipes().find(isNamed);
  if (found !== undefined) return found;
  const { configuredPlugins } = await import('../../server/generation/configured-plugins.ts');
  const plugins = await configuredPlugins(configured, context.clock);
  const brought = plugins.flatMap(({ recipes }) => recipes).find(isNamed);
  if (brought !== undefined) return brought;
  throw new SvcError('not_found', `There is no recipe ${JSON.stringify(name.slice(0, 80))}`, {
    cure: '`svc recipe list` shows their names; a file ends in .yaml.',
  });
}
