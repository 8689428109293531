/** Sets of recipes: what is handed to a thread, and what a thread makes of it. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BUILT_IN_RULES } from '../rules/built-in.ts';
import { rewrite, type Rewriter } from '../rules/rewrite.ts';
import type { Recipe } from './recipe.ts';
import type { RecipeSet } from '../../model/pass.ts';
import { toRules } from './to-rule.ts';

/** A set of recipes, in their order; `isOwn` where any of them is not of this program. */
export function toRecipeSet(recipes: readonly Recipe[], isOwn: boolean): RecipeSet {
  const source = JSON.stringify(recipes.map((recipe) => ({ ...recipe, description: '' })));
  const id = createHash('sha256').update(source).digest('base64url').slice(0, 12);
  return { id, source, isOwn };
}

/** Sets that are kept compiled: those of running conversations, and the newest. */
const MOST_COMPILED = 8;

/** Compiles sets of recipes, each once. */
export function createRecipeCompiler(): (set: RecipeSet) => Rewriter {
  const compiled = new LRUCache<string, Rewriter, string>({
    max: MOST_COMPILED,
    memoMethod(id, _, { context: source }) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toRecipeSet`
      const recipes = JSON.parse(source) as readonly Recipe[];
      return rewrite([...toRules(recipes), ...BUILT_IN_RULES], id);
    },
  });
  return ({ id, source }) => compiled.memo(id, { context: source });
}
