/**
 * Finds the recipe that a step names: a file, or one of the configuration, of a plugin, or bundled.
 */
import { resolve } from 'node:path';
import type { Config } from '../../server/config/config.ts';
import type { Recipe } from '../../stages/compress/recipe/recipe.ts';
import type { CliContext } from '../context.ts';
import { notFoundHere } from '../unknown-name.ts';

/** Throws `not_found` for an unknown name, `config` for an unusable file. */
export async function recipeNamed(
  name: string,
  config: () => Promise<Config>,
  context: CliContext,
): Promise<Recipe> {
  const [{ knownRecipes, readRecipe }, { configuredPlugins }] = await Promise.all([
    import('../../server/recipes/recipes.ts'),
    import('../../server/generation/configured-plugins.ts'),
  ]);
  if (/\.ya?ml$/.test(name)) return (await readRecipe(resolve(context.cwd, name))).recipe;
  const { compression, plugins } = await config();
  const known = await knownRecipes(
    compression.recipes,
    await configuredPlugins({ plugins }, context.clock),
  );
  const found = known.find(({ recipe }) => recipe.name === name);
  if (found !== undefined) return found.recipe;
  throw notFoundHere(
    'recipe',
    name,
    known.map(({ recipe }) => recipe.name),
    '`svc recipe list` shows their names; a file ends in .yaml.',
  );
}
