/** Resolves typed names and paths to recipe files. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { notFoundHere } from '../unknown-name.ts';

/** Returns a typed path, or the file of the bundled recipe with that name. Throws `not_found`. */
export async function recipeFileOf(typed: string, context: CliContext): Promise<string> {
  const { bundledFolder, bundledRecipes } = await import('../../server/bundled-recipes.ts');
  const names = bundledRecipes().map(({ name }) => name);
  if (names.includes(typed)) return join(bundledFolder(), `${typed}.yaml`);
  const path = resolve(context.cwd, typed);
  if (existsSync(path) || /[./]/.test(typed)) return path;
  throw notFoundHere(
    'recipe',
    typed,
    names,
    '`svc recipe list` shows the bundled ones; one of yours is named by its file.',
  );
}

/**
 * Returns the recipe files at `path`: the file itself, or all of a folder. Throws `not_found` if
 * there are none, since a check of no recipes would pass.
 */
export async function recipeFilesAt(path: string): Promise<readonly string[]> {
  if (!existsSync(path)) throw new SvcError('not_found', `There is no file or folder ${path}`);
  const { recipeFiles } = await import('../../server/recipes/recipes.ts');
  const files = recipeFiles(path);
  if (files.length > 0) return files;
  throw new SvcError('not_found', `There is no recipe in the folder ${path}`, {
    cure: 'Recipes are files that end in .yaml or .yml.',
  });
}
