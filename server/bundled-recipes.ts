/** Where the bundled recipes lie: compiled by the build, and as files with their examples. This file's own depth finds both. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Recipe } from '../stages/compress/recipe/recipe.ts';

/** The bundled recipes as the build leaves them, below the folder of whatever runs: `dist/recipes.json`. */
export const BUNDLED_FILE = '../recipes.json';

/** The bundled recipes, without their examples. */
export function bundledRecipes(): readonly Recipe[] {
  const file = new URL(BUNDLED_FILE, import.meta.url);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by our own build
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Recipe[];
}

/** The folder with the bundled recipes and their examples. */
export function bundledFolder(): string {
  return fileURLToPath(new URL('../../plugins/recipes', import.meta.url));
}
