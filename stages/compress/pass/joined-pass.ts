/** Combines what the stages before `compress` contribute to its pass over the conversation. */
import { LRUCache } from 'lru-cache';
import type { Pass, RecipeSet, RuleSettings } from '../../model/pass.ts';
import type { Recipe } from '../recipe/recipe.ts';
import { toRecipeSet } from '../recipe/set.ts';
import type { CompressConfig } from '../settings.ts';

/** The combined pass of one request. */
export interface JoinedPass {
  /** The recipes of all parts in order, one per name; undefined if there are none. */
  readonly recipes: RecipeSet | undefined;
  /** The configuration with the parts' settings that apply to every request. */
  readonly config: CompressConfig;
  /** What the request itself names. */
  readonly requested: RequestedPart | undefined;
}

export interface RequestedPart {
  readonly id: string;
  readonly settings: RuleSettings;
}

/** Maximum number of joined recipe sets kept: enough for a few macros in use at once. */
const MAX_JOINED = 16;

/**
 * Combines passes; each joined set is made once. A pass with recipes only, the usual case, costs
 * nothing.
 */
export function createPassJoiner(config: CompressConfig): (pass: Pass) => JoinedPass {
  const joined = new LRUCache<string, RecipeSet>({ max: MAX_JOINED });
  const join = (sets: readonly RecipeSet[]): RecipeSet | undefined => {
    if (sets.length < 2) return sets[0];
    const key = sets.map(({ id }) => id).join(' ');
    const known = joined.get(key) ?? joinSets(sets);
    joined.set(key, known);
    return known;
  };
  return (pass) => {
    const [first] = pass;
    if (pass.length <= 1 && first?.settings === undefined)
      return { recipes: first?.recipes, config, requested: undefined };
    const sets = pass.flatMap(({ recipes }) => recipes ?? []);
    const standing = pass.filter(({ requestedAs }) => requestedAs === undefined);
    const requested = pass.find(({ requestedAs }) => requestedAs !== undefined);
    return {
      recipes: join(sets),
      config: standing.reduce((all, { settings }) => withSettings(all, settings), config),
      requested: requested && {
        id: requested.requestedAs!,
        settings: requested.settings ?? {},
      },
    };
  };
}

/** Returns the configuration and recipes of a conversation that begins with this request. */
export function optionsAtStart({ config, recipes, requested }: JoinedPass) {
  return { config: { ...config, ...requested?.settings }, recipes };
}

/** Applies settings to the configuration. A configured `strict` mode overrides them. */
function withSettings(config: CompressConfig, settings: RuleSettings = {}): CompressConfig {
  const mode = config.mode === 'strict' ? 'strict' : (settings.mode ?? config.mode);
  return { ...config, ...settings, mode };
}

/** Joins the recipes of all sets in order; of recipes with the same name the first wins. */
function joinSets(sets: readonly RecipeSet[]): RecipeSet {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toRecipeSet`
  const all = sets.flatMap(({ source }) => JSON.parse(source) as readonly Recipe[]);
  const byName = new Map<string, Recipe>();
  for (const recipe of all) if (!byName.has(recipe.name)) byName.set(recipe.name, recipe);
  return toRecipeSet(
    [...byName.values()],
    sets.some(({ isOwn }) => isOwn),
  );
}
