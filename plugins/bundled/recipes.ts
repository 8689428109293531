/** The bundled plugin of recipes: one stage for all of them, before `compress`. */
import type { RecipeSet } from '../../stages/model/pass.ts';
import { passStage } from '../../stages/recipes/stage.ts';
import { ORDER } from './bundled.ts';
import type { BundledPlugin } from './bundled.ts';

const NAME = 'recipes';

/**
 * Creates the plugin. `about`: how many recipes there are, and where they come from. No stage if no
 * recipe runs.
 */
export function recipesPlugin(
  recipes: RecipeSet | undefined,
  about: readonly string[],
): BundledPlugin {
  if (recipes === undefined) return { name: NAME, insertions: [] };
  const stage = passStage(NAME, Object.freeze({ recipes }));
  const insertion = { stage, plugin: NAME, before: 'compress', order: ORDER.recipes, about };
  return { name: NAME, insertions: [insertion] };
}
