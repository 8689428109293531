/**
 * A recipe: which texts it applies to, what it does to them, and which lines it must keep. Written
 * as YAML (`docs/recipes.md`); this is the parsed form.
 */
import type { TextClass } from '../../model/classify/classes.ts';
import type { Mode } from '../rules/rule.ts';
import type { Values } from './operation.ts';

export interface Recipe {
  /** Lower case letters, digits and -; shown in traces and in `svc diff`. */
  readonly name: string;
  readonly description: string;
  readonly match: RecipeMatch;
  /**
   * Patterns. Every matching line is kept verbatim; required for recipes that can lose anything.
   */
  readonly mustKeep: readonly string[];
  /** In execution order. */
  readonly operations: readonly Step[];
  /** Run after `operations`, unless something shows that the command failed. */
  readonly onSuccess?: readonly Step[];
}

/** One operation, by its name in `OPERATIONS`. */
export interface Step {
  readonly name: string;
  readonly values: Values;
}

/** Every given condition must hold; in a list one match is enough. */
export interface RecipeMatch {
  readonly class?: readonly TextClass[];
  readonly mode?: readonly Mode[];
  /** Patterns matched against the tool's name. */
  readonly tool?: readonly string[];
  /** Programs that the command ran. */
  readonly program?: readonly string[];
  /** Patterns matched against the command. */
  readonly command?: readonly string[];
  /** Patterns matched against the path of the file that was read. */
  readonly path?: readonly string[];
  /** File extensions, lower case, without the dot. */
  readonly language?: readonly string[];
  /** Patterns matched against the first lines of the text. */
  readonly content?: readonly string[];
  /** Patterns matched against its last lines, e.g. totals that only this program prints. */
  readonly end?: readonly string[];
  /**
   * Patterns for what the recipe leaves out: if one matches the newest question or the call, the
   * recipe does not run.
   */
  readonly unless?: readonly string[];
}

/** A sample of real output, with the expected result of a recipe. */
export interface RecipeExample {
  /** The command that printed it. */
  readonly command?: string;
  readonly tool?: string;
  readonly path?: string;
  /** Program and version. */
  readonly from: string;
  /** `run`: printed by that program; `hand`: written by hand in its documented shape. */
  readonly made: 'run' | 'hand';
  /** The text, or a file beside the recipe that holds it. */
  readonly input?: string;
  readonly file?: string;
  /** The exact result, if it is fixed. */
  readonly output?: string;
  /** Texts that the result must contain. */
  readonly keeps?: readonly string[];
  /** Minimum saving, in percent of tokens. */
  readonly saves?: number;
}

/** A file with one recipe and its examples. */
export interface RecipeFile {
  readonly recipe: Recipe;
  readonly examples: readonly RecipeExample[];
}
