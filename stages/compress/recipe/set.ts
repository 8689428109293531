/** Recipe sets: the form passed to a thread, and the rewriter a thread compiles from it. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BUILT_IN_RULES } from '../rules/built-in.ts';
import { rewrite, type Rewriter } from '../rules/rewrite.ts';
import type { Recipe } from './recipe.ts';
import type { RecipeSet } from '../../model/pass.ts';
import { toRules } from './to-rule.ts';

/** Builds a recipe set, in order; `isOwn` is true if any recipe is not built in. */
export function toRecipeSet(recipes: readonly Recipe[], isOwn: boolean): RecipeSet {
  const source = JSON.stringify(recipes.map((recipe) => ({ ...recipe, description: '' })));
  const id = createHash('sha256').update(source).digest('base64url').slice(0, 12);
  return { id, source, isOwn };
}

/** Maximum number of compiled sets kept: those of running conversations, and the newest. */
const MAX_COMPILED = 8;

/** Creates a compiler that compiles each recipe set once. */
export function createRecipeCompiler(): (set: RecipeSet) => Rewriter {
  const compiled = new LRUCache<string, Rewriter, string>({
    max: MAX_COMPILED,
    memoMethod(id, _, { context: source }) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toRecipeSet`
      const recipes = JSON.parse(source) as readonly Recipe[];
      return rewrite([...toRules(recipes), ...BUILT_IN_RULES], id);
    },
  });
  return ({ id, source }) => compiled.memo(id, { context: source });
}
