/** Runs the examples in a recipe's file. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { RecipeExample, RecipeFile } from '../../stages/compress/recipe/recipe.ts';
import { exampleFaults, tryRecipe } from '../../stages/compress/recipe/try.ts';
import type { TrialResult } from '../../stages/compress/recipe/try.ts';

export interface ExampleResult {
  readonly example: RecipeExample;
  readonly tried: TrialResult;
  /** Faults shown by the example; empty if it passes. */
  readonly faults: readonly string[];
}

/** Returns what an example begins with. `path` is the recipe's file. */
export function exampleText({ input = '', file }: RecipeExample, path: string): string {
  return file === undefined ? input : readFileSync(resolve(dirname(path), file), 'utf8');
}

/** Runs all examples. `path` is the recipe's file; examples name other files relative to it. */
export function runExamples(
  { recipe, examples }: RecipeFile,
  path: string,
): readonly ExampleResult[] {
  return examples.map((example) => {
    const tried = tryRecipe(recipe, exampleText(example, path), example);
    return { example, tried, faults: exampleFaults(example, tried) };
  });
}
