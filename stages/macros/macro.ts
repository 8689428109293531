/**
 * A macro: a named sequence of steps, with variables. It is either a stage before `compress`, made
 * of recipes and rule settings, or run by a person: recipes on files and actions of the engine. It
 * is data only (`docs/macros.md`): no step runs a program, and none can be created over HTTP.
 */
import type { Variable } from '../model/placeholders.ts';
import type { ActionName } from './actions.ts';

/** Parameters of a step as written in the macro, variables not filled. */
export type StepValues = Readonly<Record<string, unknown>>;

export interface WrittenStep {
  readonly action: ActionName;
  readonly values: StepValues;
}

export interface Macro {
  readonly name: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly steps: readonly WrittenStep[];
}

/** A step with all values filled in. Paths are as written. */
export type MacroStep =
  | { readonly action: 'recipes'; readonly use: readonly string[] }
  | {
      readonly action: 'settings';
      readonly mode?: 'strict' | 'hybrid' | 'aggressive';
      readonly threshold_tokens?: number;
      readonly log_budget_tokens?: number;
      readonly long_results_tokens?: number;
      readonly max_chars?: number;
      readonly user_prose?: boolean;
      readonly tools?: 'off' | 'trim';
    }
  | {
      readonly action: 'compress';
      readonly file: string;
      readonly recipe: readonly string[];
      readonly to: string;
      readonly command?: string;
    }
  | { readonly action: 'ingest'; readonly file: string; readonly id?: string }
  | { readonly action: 'search'; readonly query: string; readonly top: number }
  | { readonly action: 'pause' }
  | { readonly action: 'resume' }
  | { readonly action: 'debug'; readonly on: boolean }
  | {
      readonly action: 'force_health';
      readonly provider: string;
      readonly state: 'healthy' | 'unhealthy';
    }
  | {
      readonly action: 'route_add';
      readonly id: string;
      readonly target: string;
      readonly model?: string;
      readonly priority: number;
    }
  | { readonly action: 'route_remove'; readonly id: string }
  | { readonly action: 'cache_clear' }
  | { readonly action: 'learn'; readonly do: 'apply' | 'reset' }
  | { readonly action: 'check_alerts' }
  | { readonly action: 'reload' };

/** What a macro does as a stage. */
export type StageStep = Extract<MacroStep, { readonly action: 'recipes' | 'settings' }>;
/** What a person runs. */
export type CommandStep = Exclude<MacroStep, StageStep>;

/** The actions that a person runs. */
export type CommandAction = CommandStep['action'];

/** The step of one action. */
export type StepOf<A extends ActionName> = Extract<MacroStep, { readonly action: A }>;
