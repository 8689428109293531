/** What the stages of a configuration add to the pass of `compress`, without a proxy. */
import type { Clock } from '../../engine/index.ts';
import type { Pass } from '../../stages/model/pass.ts';
import type { Config } from '../config/config.ts';
import { macroFolder } from '../macros/macros.ts';
import { loadStageMacros } from '../macros/stage-macros.ts';
import { knownRecipes, setOf } from '../recipes/recipes.ts';
import { configuredPlugins } from './configured-plugins.ts';

/**
 * For a request that names `requested` as its macro, if any. Throws `bad_request` for a macro that
 * cannot be a stage, `config` for plugins and recipes that cannot be used.
 */
export async function passOf(config: Config, clock: Clock, requested?: string): Promise<Pass> {
  const plugins = await configuredPlugins(config, clock);
  const known = await knownRecipes(config.compression.recipes, plugins);
  const recipes = setOf(known.filter(({ runs }) => runs));
  const folder = macroFolder(config.home);
  const macros = await loadStageMacros({ folder, plugins, recipes: known });
  const named = requested === undefined ? undefined : macros.stage(requested);
  return [
    ...config.macros.map((name) => macros.stage(name).part),
    ...(named === undefined ? [] : [{ ...named.part, requestedAs: named.id }]),
    ...(recipes === undefined ? [] : [{ recipes }]),
  ];
}
