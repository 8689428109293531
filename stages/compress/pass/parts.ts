/** What the stages before `compress` have added to its pass, put together. */
import { LRUCache } from 'lru-cache';
import type { Pass, RecipeSet, RuleSettings } from '../../model/pass.ts';
import type { Recipe } from '../recipe/recipe.ts';
import { toRecipeSet } from '../recipe/set.ts';
import type { CompressConfig } from '../settings.ts';

/** The pass of one request. */
export interface JoinedPass {
  /** Every recipe of the parts in its order, each name once; undefined where there are none. */
  readonly recipes: RecipeSet | undefined;
  /** The configuration with the settings of the parts that hold for every request. */
  readonly config: CompressConfig;
  /** What the request itself asked for. */
  readonly requested: RequestedPart | undefined;
}

export interface RequestedPart {
  readonly id: string;
  readonly settings: RuleSettings;
}

/** Joined sets that are kept: those of a few macros beside one another. */
const MOST_JOINED = 16;

/** Puts passes together; joined sets are made once. A pass of recipes alone, which nearly all are, costs nothing. */
export function createPassJoiner(config: CompressConfig): (pass: Pass) => JoinedPass {
  const joined = new LRUCache<string, RecipeSet>({ max: MOST_JOINED });
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

/** What a conversation that begins with this request is compressed with. */
export function asBegun({ config, recipes, requested }: JoinedPass) {
  return { config: { ...config, ...requested?.settings }, recipes };
}

/** The configuration with other settings. One of `strict` wins over all of them. */
function withSettings(config: CompressConfig, settings: RuleSettings = {}): CompressConfig {
  const mode = config.mode === 'strict' ? 'strict' : (settings.mode ?? config.mode);
  return { ...config, ...settings, mode };
}

/** The recipes of all sets in their order. Of those with one name the first stands. */
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
