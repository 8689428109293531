/** The macros that can be a stage before `compress`: those of the home, and those of plugins. */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { SvcError, isSvcError } from '../../engine/index.ts';
import type { MacroStage } from '../../plugins/bundled/macros.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import type { Macro } from '../../stages/macros/macro.ts';
import { stagePhrases, stageStepsOf } from '../../stages/macros/stage-steps.ts';
import { fillMacro } from '../../stages/macros/values.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { isRecipeFile, readRecipe, setOf } from '../recipes/recipes.ts';
import type { KnownRecipe } from '../recipes/recipes.ts';
import { macroFiles, readMacro } from './macros.ts';

/** A macro as a stage, with its recipes in order. */
export interface StageMacro extends MacroStage {
  readonly recipes: readonly KnownRecipe[];
}

export interface StageMacros {
  /**
   * Returns the stage of a macro. Throws `bad_request` for an unknown name, and for a macro that
   * cannot be a stage.
   */
  stage(name: string): StageMacro;
}

/** Result for one name: the stage, or why there is none. */
type Found = StageMacro | SvcError;

export interface StageMacroOptions {
  /** Folder of the home's macros; it need not exist. */
  readonly folder: string;
  readonly plugins: readonly Pick<LoadedPlugin, 'name' | 'macros'>[];
  /** All recipes that a macro may name, including ones that do not run by default. */
  readonly recipes: readonly KnownRecipe[];
}

/** Reads all macros. An unusable one is reported when it is requested. */
export async function loadStageMacros(options: StageMacroOptions): Promise<StageMacros> {
  const { folder, plugins, recipes } = options;
  const found = new Map<string, Found>();
  for (const { macros } of plugins)
    for (const macro of macros) found.set(macro.name, await toStage(macro, recipes));
  // A macro of the home overrides a plugin's of the same name.
  for (const name of macroFiles.names(folder)) found.set(name, await ownMacro(name, options));
  return {
    stage(name) {
      const macro = found.get(name) ?? unknownMacro(name, [...found.keys()]);
      if (isSvcError(macro)) throw macro;
      return macro;
    },
  };
}

async function ownMacro(name: string, { folder, recipes }: StageMacroOptions): Promise<Found> {
  try {
    const source = macroFiles.source(folder, name);
    if (source === undefined) return unknownMacro(name, []);
    const { macro, faults } = await readMacro(name, source, `${name}.yaml`);
    return macro === undefined ? refusedMacro(name, faults) : await toStage(macro, recipes, folder);
  } catch (thrown) {
    if (isSvcError(thrown)) return thrown;
    throw thrown;
  }
}

/**
 * `folder` contains the recipe files that the macro names; absent for a plugin's macro, whose
 * recipes come with it.
 */
async function toStage(
  macro: Macro,
  known: readonly KnownRecipe[],
  folder?: string,
): Promise<Found> {
  const { name } = macro;
  let steps;
  try {
    // A stage is not given any values, so its variables need defaults.
    steps = stageStepsOf(fillMacro(macro, new Map()));
  } catch (thrown) {
    if (!isSvcError(thrown)) throw thrown;
    return refusedMacro(name, [`${thrown.message}; a stage takes the defaults of its variables`]);
  }
  if (steps === undefined) {
    const actions = [...new Set(macro.steps.map(({ action }) => action))].join(', ');
    return refusedMacro(name, [
      `its steps (${actions}) are run by a person, with \`svc macro run ${name}\`; a stage is made of the steps recipes and settings`,
    ]);
  }
  const named = await Promise.all(
    steps.recipes.map(async (recipeName) =>
      folder !== undefined && isRecipeFile(recipeName)
        ? await fromFile(resolve(folder, recipeName))
        : (known.find(({ recipe }) => recipe.name === recipeName) ?? recipeName),
    ),
  );
  const missing = named.filter((one) => typeof one === 'string');
  if (missing.length > 0) {
    const names = known.map(({ recipe }) => recipe.name);
    return refusedMacro(
      name,
      missing.map((one) => `there is no recipe ${one}${didYouMean(one, names)}`),
    );
  }
  const recipes = named.filter((entry) => typeof entry !== 'string');
  const set = setOf(recipes);
  const { settings } = steps;
  const part = Object.freeze({ ...(set !== undefined && { recipes: set }), settings });
  const id = createHash('sha256')
    .update(JSON.stringify([name, set?.id, settings]))
    .digest('base64url')
    .slice(0, 12);
  return { name, part, id, about: stagePhrases(steps), recipes };
}

async function fromFile(file: string): Promise<KnownRecipe> {
  return { recipe: (await readRecipe(file)).recipe, from: 'own', runs: false };
}

const refusedMacro = (name: string, faults: readonly string[]): SvcError =>
  new SvcError('bad_request', `Macro ${name} cannot be a stage: ${faults.join('; ')}`);

function unknownMacro(name: string, names: readonly string[]): SvcError {
  const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  return new SvcError(
    'bad_request',
    `There is no macro ${JSON.stringify(name.slice(0, 80))}${didYouMean(name, names)}; ${known}`,
    { cure: '`svc macro list` shows those that there are; a new one is known after a reload.' },
  );
}
