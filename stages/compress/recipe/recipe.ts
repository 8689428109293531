/**
 * A recipe: which texts it is for, what it does to them, and which lines stay whatever it does.
 * Written as YAML (`docs/recipes.md`); this is its data.
 */
import type { TextClass } from '../../model/classify/classes.ts';
import type { Mode } from '../rules/rule.ts';
import type { Values } from './operation.ts';

export interface Recipe {
  /** Lower case letters, digits and -; stands in traces and in `svc diff`. */
  readonly name: string;
  readonly description: string;
  readonly match: RecipeMatch;
  /** Patterns. Every line in which one is found stays to the letter; required for what can lose anything. */
  readonly mustKeep: readonly string[];
  /** In the order in which they run. */
  readonly operations: readonly Step[];
  /** These run behind them, and only where nothing says that the command failed. */
  readonly onSuccess?: readonly Step[];
}

/** One operation, by its name in `OPERATIONS`. */
export interface Step {
  readonly name: string;
  readonly values: Values;
}

/** Every condition that is given must hold; of a list one member is enough. */
export interface RecipeMatch {
  readonly class?: readonly TextClass[];
  readonly mode?: readonly Mode[];
  /** Patterns, searched for in the name of the tool. */
  readonly tool?: readonly string[];
  /** Names of programs that the command ran. */
  readonly program?: readonly string[];
  /** Patterns, searched for in the command. */
  readonly command?: readonly string[];
  /** Patterns, searched for in the path of the file that was read. */
  readonly path?: readonly string[];
  /** File extensions, lower case, without the dot. */
  readonly language?: readonly string[];
  /** Patterns, searched for in the first lines of the text itself. */
  readonly content?: readonly string[];
  /** Patterns, searched for in its last lines: the totals that only this program prints. */
  readonly end?: readonly string[];
  /** Patterns for what the recipe leaves out: where the newest question or the call asks for it, the recipe does not run. */
  readonly unless?: readonly string[];
}

/** A piece of real output, with what a recipe has to do with it. */
export interface RecipeExample {
  /** The command that printed it. */
  readonly command?: string;
  readonly tool?: string;
  readonly path?: string;
  /** Program and version. */
  readonly from: string;
  /** `run`: printed by that program; `hand`: written by hand in its documented shape. */
  readonly made: 'run' | 'hand';
  /** The text, or the file it stands in, beside the recipe. */
  readonly input?: string;
  readonly file?: string;
  /** What comes out, where that is fixed. */
  readonly output?: string;
  /** Texts that must stand in what comes out. */
  readonly keeps?: readonly string[];
  /** Least share saved, in percent of tokens. */
  readonly saves?: number;
}

/** A file with one recipe and its examples. */
export interface RecipeFile {
  readonly recipe: Recipe;
  readonly examples: readonly RecipeExample[];
}
