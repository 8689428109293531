/**
 * Locates the bundled recipes: compiled by the build, and as files with their examples. The paths
 * are relative to this file's depth.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Recipe } from '../stages/compress/recipe/recipe.ts';

/**
 * The bundled recipes in the build output, relative to the folder of the running module:
 * `dist/recipes.json`.
 */
export const BUNDLED_FILE = '../recipes.json';

/** Reads the bundled recipes, without their examples. */
export function bundledRecipes(): readonly Recipe[] {
  const file = new URL(BUNDLED_FILE, import.meta.url);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by our own build
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Recipe[];
}

/** Returns the folder of the bundled recipes and their examples. */
export function bundledFolder(): string {
  return fileURLToPath(new URL('../../plugins/recipes', import.meta.url));
}
