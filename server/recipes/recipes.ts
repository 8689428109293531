/** Reads recipes: the bundled ones, compiled by the build, and users' files. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { checkRecipe } from '../../stages/compress/recipe/check.ts';
import type { Recipe, RecipeFile } from '../../stages/compress/recipe/recipe.ts';
import type { RecipeSet } from '../../stages/model/pass.ts';
import { toRecipeSet } from '../../stages/compress/recipe/set.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { bundledRecipes } from '../bundled-recipes.ts';
import { readAuthored } from '../config/authored-yaml.ts';

/** True for a file name that a recipe may have. */
export const isRecipeFile = (name: string): boolean => /\.ya?ml$/.test(name);

/** Reads one recipe. Throws `config` (CONFIG_002) with every fault of the file and its line. */
export async function readRecipe(file: string): Promise<RecipeFile> {
  const { faults, checked } = await checkFile(file);
  if (faults.length === 0 && checked !== undefined) return checked;
  throw new SvcError(
    'config',
    `A recipe that cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    {
      code: 'CONFIG_002',
      cure: 'Fix the file; `svc recipe validate` checks it again.',
    },
  );
}

/** Returns the faults of a file, each as a sentence with its place; empty if it is usable. */
export async function recipeFaults(file: string): Promise<readonly string[]> {
  return (await checkFile(file)).faults;
}

async function checkFile(
  file: string,
): Promise<{ readonly faults: readonly string[]; readonly checked?: RecipeFile }> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    return { faults: [`${file} cannot be read: ${reasonOf(thrown)}`] };
  }
  const { read, faults } = await readAuthored(text, basename(file), checkRecipe);
  return read === undefined ? { faults } : { faults, checked: read.file };
}

/**
 * Returns the recipe files of a path: the file itself, or all files of a folder, sorted by name.
 */
export function recipeFiles(path: string): readonly string[] {
  if (!existsSync(path))
    throw new SvcError('config', `${path} is not there`, { code: 'CONFIG_002' });
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter(isRecipeFile)
    .toSorted()
    .map((name) => join(path, name));
}

/** Reads all recipes of files and folders. Throws for the first unusable file. */
export async function readRecipes(paths: readonly string[]): Promise<readonly Recipe[]> {
  const files = paths.flatMap(recipeFiles);
  const read = await Promise.all(files.map(readRecipe));
  return read.map(({ recipe }) => recipe);
}

/** A recipe and its origin. */
export interface KnownRecipe {
  readonly recipe: Recipe;
  /** `own`, `bundled`, or `plugin NAME`. */
  readonly from: string;
  /** False for bundled recipes that the setting does not name. */
  readonly runs: boolean;
}

/** The parts of a plugin that matter here. */
interface RecipePlugin {
  readonly name: string;
  readonly recipes: readonly Recipe[];
}

/**
 * Returns every recipe: those named by the setting, then the plugins', then the bundled ones. An
 * earlier recipe overrides later ones of the same name. Throws `config` for an unusable file.
 */
export async function knownRecipes(
  setting: string | readonly string[],
  plugins: readonly RecipePlugin[] = [],
): Promise<readonly KnownRecipe[]> {
  const named = [setting].flat();
  const own = await readRecipes(named.filter((name) => name !== 'bundled' && name !== 'off'));
  const runsBundled = named.includes('bundled');
  const names = new Set<string>();
  return [
    ...own.map((recipe) => ({ recipe, from: 'own', runs: true })),
    ...plugins.flatMap(({ name, recipes }) =>
      recipes.map((recipe) => ({ recipe, from: `plugin ${name}`, runs: true })),
    ),
    ...bundledRecipes().map((recipe) => ({ recipe, from: 'bundled', runs: runsBundled })),
  ].filter(({ recipe: { name } }) => {
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
}

/** Returns the running recipes, in order; undefined if there are none. */
export async function loadRecipes(
  setting: string | readonly string[],
  plugins: readonly RecipePlugin[] = [],
): Promise<RecipeSet | undefined> {
  return setOf((await knownRecipes(setting, plugins)).filter(({ runs }) => runs));
}

/** Returns these recipes as a set, in order; undefined if there are none. */
export function setOf(known: readonly KnownRecipe[]): RecipeSet | undefined {
  if (known.length === 0) return undefined;
  return toRecipeSet(
    known.map(({ recipe }) => recipe),
    known.some(({ from }) => from !== 'bundled'),
  );
}

/** Describes how many recipes run and their origin, as in `52 recipes (1 own, 51 bundled)`. */
export function recipesPhrase(running: readonly KnownRecipe[]): string {
  const counts = new Map<string, number>();
  for (const { from } of running) counts.set(from, (counts.get(from) ?? 0) + 1);
  const parts = [...counts].map(([from, count]) => `${count} ${from}`).join(', ');
  return `${running.length} ${running.length === 1 ? 'recipe' : 'recipes'} (${parts})`;
}
