/**
 * What a plugin is: a name and what it brings (stages with their places in the graph, hooks,
 * providers, recipes, macros), or a `setup` that returns it for a checked configuration. A module's
 * default export is one; a plain object of the same shape is as good as `definePlugin`, since
 * `setup` gets all that a stage needs.
 */
import type { PluginHooks } from './hooks.ts';
import type { PluginStage } from './plugin-stage.ts';
import type { ProviderDefinition } from './provider.ts';
import type { StageTools } from './stage-tools.ts';
import type { PluginView } from './view.ts';

/** Everything that a plugin can bring; each part may be left out. */
export interface PluginSetup {
  /** Stages, each with its place in the graph. */
  readonly stages?: readonly PluginStage[];
  /** Functions at places that need no node: see `PluginHooks`. */
  readonly hooks?: PluginHooks;
  /** Providers, as `defineProvider` has them, each with the name by which the configuration knows it. */
  readonly providers?: readonly (ProviderDefinition & { readonly name: string })[];
  /** Recipes of compression, as they would stand in YAML (`docs/recipes.md`). They run before the bundled ones. */
  readonly recipes?: readonly unknown[];
  /** Macros, as they would stand in YAML, each with its name (`docs/macros.md`). */
  readonly macros?: readonly unknown[];
}

/** What an arktype type returns of a value that does not fit. */
export type ConfigFaults = readonly unknown[] & { readonly summary: string };

/** `Checked` is what the check of the configuration returns, the faults of an arktype type included. */
export interface PluginApi<Checked> {
  /** What stands under `config` in the configuration, as the check returned it. */
  readonly config: Exclude<Checked, ConfigFaults>;
  /** Frames, edits of requests and answers. */
  readonly tools: StageTools;
  /** What a request would cost, and the log. */
  readonly view: PluginView;
}

/**
 * @example
 * export default definePlugin({
 *   name: 'footer',
 *   setup: ({ tools }) => ({
 *     stages: [{ after: 'forward', needs: 'events', on: { end: (end) => [tools.toChunk(': checked\n\n'), end] } }],
 *   }),
 * });
 */
export interface PluginDefinition<Checked = unknown> extends PluginSetup {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  readonly version?: string;
  /**
   * Checks the configuration: an arktype type, or any function that returns the value or throws.
   * Left out, the configuration reaches `setup` as it is.
   */
  readonly config?: (value: unknown) => Checked;
  /** Returns what depends on the configuration or needs the tools; it is added to what stands beside it. */
  readonly setup?: (api: PluginApi<Checked>) => PluginSetup | Promise<PluginSetup>;
}

/** Gives a definition its types. */
export function definePlugin<Checked>(
  definition: PluginDefinition<Checked>,
): PluginDefinition<Checked> {
  return Object.freeze(definition);
}
