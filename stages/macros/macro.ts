/**
 * A macro: a named sequence of recipes on files and of actions of the engine, with variables. It is
 * data alone (`docs/macros.md`): no step runs a program, and none can be made or run over HTTP.
 */
import type { Variable } from '../model/placeholders.ts';
import type { ActionName } from './actions.ts';

/** Parameters of a step as they stand in the macro, variables not filled. */
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

/** A step with every value in its place. Paths are as they were written. */
export type MacroStep =
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

/** The step of one action. */
export type StepOf<A extends ActionName> = Extract<MacroStep, { readonly action: A }>;
