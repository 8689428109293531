/** The recipes and macros that a configuration adds to the `compress` stage. */
import type { Clock } from '../../engine/index.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import type { Pass, RecipeSet } from '../../stages/model/pass.ts';
import type { Config } from '../config/config.ts';
import { macroFolder } from '../macros/macros.ts';
import { loadStageMacros } from '../macros/stage-macros.ts';
import type { StageMacros } from '../macros/stage-macros.ts';
import { knownRecipes, setOf } from '../recipes/recipes.ts';
import type { KnownRecipe } from '../recipes/recipes.ts';
import { configuredPlugins } from './configured-plugins.ts';

export interface PassSources {
  /** Recipes that run for every request, in order. */
  readonly running: readonly KnownRecipe[];
  /** The same as a set; undefined if there are none. */
  readonly recipes: RecipeSet | undefined;
  readonly macros: StageMacros;
}

/** Loads the sources; macros come from `home`. Throws `config` for an unusable recipe. */
export async function passSources(
  { compression, home }: Pick<Config, 'compression' | 'home'>,
  plugins: readonly LoadedPlugin[],
): Promise<PassSources> {
  const known = await knownRecipes(compression.recipes, plugins);
  const running = known.filter(({ runs }) => runs);
  const folder = macroFolder(home);
  const macros = await loadStageMacros({ folder, plugins, recipes: known });
  return { running, recipes: setOf(running), macros };
}

/**
 * Returns the pass of a request that names `requested` as its macro, if any, without a proxy.
 * Throws `bad_request` for a macro that cannot be a stage, `config` for unusable plugins and
 * recipes.
 */
export async function passOf(config: Config, clock: Clock, requested?: string): Promise<Pass> {
  const plugins = await configuredPlugins(config, clock);
  const { recipes, macros } = await passSources(config, plugins);
  const named = requested === undefined ? undefined : macros.stage(requested);
  return [
    ...config.macros.map((name) => macros.stage(name).part),
    ...(named === undefined ? [] : [{ ...named.part, requestedAs: named.id }]),
    ...(recipes === undefined ? [] : [{ recipes }]),
  ];
}
