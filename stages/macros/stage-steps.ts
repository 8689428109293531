/** What a macro does as a stage: which recipes it runs, and which rule settings it sets. */
import type { RuleSettings } from '../model/pass.ts';
import type { MacroStep, StageStep } from './macro.ts';

export interface StageSteps {
  /** Their names, in the order in which they run. */
  readonly recipes: readonly string[];
  readonly settings: RuleSettings;
}

export const isStageStep = (step: MacroStep): step is StageStep =>
  step.action === 'recipes' || step.action === 'settings';

/**
 * Combines the steps of a stage: of two settings with the same name the later applies. Undefined
 * for a macro that a person runs.
 */
export function stageStepsOf(steps: readonly MacroStep[]): StageSteps | undefined {
  const own = steps.filter(isStageStep);
  if (own.length === 0) return undefined;
  const settings = own.map((step) => (step.action === 'settings' ? settingsOf(step) : {}));
  return {
    recipes: [...new Set(own.flatMap((step) => (step.action === 'recipes' ? step.use : [])))],
    settings: Object.freeze(Object.assign({}, ...settings)),
  };
}

function settingsOf(step: Extract<StageStep, { readonly action: 'settings' }>): RuleSettings {
  const { mode, tools, user_prose: prose } = step;
  const { max_chars, threshold_tokens, log_budget_tokens, long_results_tokens } = step;
  return {
    ...(mode !== undefined && { mode }),
    ...(max_chars !== undefined && { maxChars: max_chars }),
    ...(threshold_tokens !== undefined && { thresholdTokens: threshold_tokens }),
    ...(log_budget_tokens !== undefined && { logBudgetTokens: log_budget_tokens }),
    ...(prose !== undefined && { userProse: prose }),
    ...(long_results_tokens !== undefined && { longResultsTokens: long_results_tokens }),
    ...(tools !== undefined && { tools }),
  };
}

/** Describes what it does, one phrase each, as in `recipes make, gcc` and `mode aggressive`. */
export function stagePhrases({ recipes, settings }: StageSteps): readonly string[] {
  const named = Object.entries(settings).map(
    ([name, value]) => `${name.replaceAll(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)} ${value}`,
  );
  const title = recipes.length === 1 ? 'recipe' : 'recipes';
  return [...(recipes.length === 0 ? [] : [`${title} ${recipes.join(' ')}`]), ...named];
}
