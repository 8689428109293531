/** Lists the recipes of a configuration in execution order, each with the node that runs it. */
import type { Clock } from '../../engine/index.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import { macroNode } from '../../plugins/bundled/macros.ts';
import type { Config } from '../config/config.ts';
import { configuredPlugins } from '../generation/configured-plugins.ts';
import { passSources } from '../generation/compress-additions.ts';
import type { KnownRecipe } from '../recipes/recipes.ts';

export interface RunningRecipe {
  readonly node: string;
  readonly name: string;
  /** `own`, `bundled`, or `plugin NAME`. */
  readonly from: string;
  readonly description: string;
}

/**
 * `macro`: a requested one. Of recipes with the same name only the first, which runs, is listed.
 */
export async function recipesInOrder(
  config: Config,
  clock: Clock,
  macro?: string,
): Promise<readonly RunningRecipe[]> {
  return runningRecipes(config, await configuredPlugins(config, clock), macro);
}

/** Same, with plugins that are already loaded. */
export async function runningRecipes(
  config: Config,
  plugins: readonly LoadedPlugin[],
  macro?: string,
): Promise<readonly RunningRecipe[]> {
  const { running, macros } = await passSources(config, plugins);
  const named = [...new Set([...config.macros, ...(macro === undefined ? [] : [macro])])];
  const toRow =
    (node: string) =>
    ({ recipe: { name, description }, from }: KnownRecipe): RunningRecipe => ({
      node,
      name,
      from,
      description,
    });
  const rows = [
    ...named.flatMap((name) => macros.stage(name).recipes.map(toRow(macroNode(name)))),
    ...running.map(toRow('recipes')),
  ];
  return rows.filter(
    ({ name }, index) => rows.findIndex((recipe) => recipe.name === name) === index,
  );
}
