/** Reads recipes: the bundled ones, which the build has compiled, and files of users. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { checkRecipe } from '../../stages/compress/recipe/check.ts';
import type { Recipe, RecipeFile, RecipeSet } from '../../stages/compress/recipe/recipe.ts';
import { toRecipeSet } from '../../stages/compress/recipe/set.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { bundledRecipes } from '../bundled-recipes.ts';
import { readYaml } from '../config/yaml.ts';

const isRecipeName = (name: string): boolean => /\.ya?ml$/.test(name);

/** Throws `config` (CONFIG_002) with every fault of the file and its line. */
export async function readRecipe(file: string): Promise<RecipeFile> {
  const { faults, checked } = await checkFile(file);
  if (faults.length === 0 && checked !== undefined) return checked;
  throw new SvcError(
    'config',
    `A recipe that cannot be used:\n${faults.map((one) => `  - ${one}`).join('\n')}`,
    {
      code: 'CONFIG_002',
      cure: 'Mend the file; `svc recipe validate` checks it again.',
    },
  );
}

/** What is wrong with a file, a sentence each with its place; nothing where it can be used. */
export async function recipeFaults(file: string): Promise<readonly string[]> {
  return (await checkFile(file)).faults;
}

async function checkFile(
  file: string,
): Promise<{ readonly faults: readonly string[]; readonly checked?: RecipeFile }> {
  const name = basename(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    return { faults: [`${file} ${reasonOf(thrown)}`] };
  }
  const yaml = await readYaml(text, name);
  if (yaml.faults.length > 0) return { faults: yaml.faults.map((one) => one.text) };
  const checked = checkRecipe(yaml.data);
  if (checked.ok) return { faults: [], checked: checked.file };
  const faults = checked.faults.map(({ path, message }) => {
    const { where } = yaml.placeOf(path);
    return `${where === '' ? name : where}: ${path.join('.')} ${message}`;
  });
  return { faults };
}

/** The recipe files that a path stands for: itself, or all of a folder, in the order of their names. */
export function recipeFiles(path: string): readonly string[] {
  if (!existsSync(path))
    throw new SvcError('config', `${path} is not there`, { code: 'CONFIG_002' });
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter(isRecipeName)
    .toSorted()
    .map((name) => join(path, name));
}

/** All recipes of files and folders. Throws for the first file that cannot be used. */
export async function readRecipes(paths: readonly string[]): Promise<readonly Recipe[]> {
  const files = paths.flatMap(recipeFiles);
  const read = await Promise.all(files.map(readRecipe));
  return read.map(({ recipe }) => recipe);
}

/**
 * The recipes that run: those that the setting names, then the plugins', then the bundled ones.
 * One that has the name of a later one stands in its place. Undefined where there are none.
 */
export async function loadRecipes(
  setting: string | readonly string[],
  ofPlugins: readonly Recipe[] = [],
): Promise<RecipeSet | undefined> {
  const named = typeof setting === 'string' ? [setting] : setting;
  const paths = named.filter((one) => one !== 'bundled' && one !== 'off');
  const own = [...(await readRecipes(paths)), ...ofPlugins];
  const bundled = named.includes('bundled') ? bundledRecipes() : [];
  const names = new Set<string>();
  const all = [...own, ...bundled].filter(({ name }) => {
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
  return all.length === 0 ? undefined : toRecipeSet(all, own.length > 0);
}
