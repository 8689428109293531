/**
 * What a plugin is: a name and what it provides (stages with their places in the graph, hooks,
 * providers, recipes, macros), or a `setup` that returns it for a checked configuration. A module's
 * default export is one; a plain object of the same shape works as well as `definePlugin`, since
 * `setup` receives everything that a stage needs.
 */
import type { PluginHooks } from './hooks.ts';
import type { PluginStage } from './plugin-stage.ts';
import type { ProviderDefinition } from './provider.ts';
import type { StageTools } from './stage-tools.ts';
import type { PluginView } from './view.ts';

/** Everything that a plugin can provide; each part may be left out. */
export interface PluginSetup {
  /** Stages, each with its place in the graph. */
  readonly stages?: readonly PluginStage[];
  /** Functions at fixed places that need no node: see `PluginHooks`. */
  readonly hooks?: PluginHooks;
  /** Providers, as for `defineProvider`, each with the name that the configuration uses. */
  readonly providers?: readonly (ProviderDefinition & { readonly name: string })[];
  /**
   * Compression recipes, as written in YAML (`docs/recipes.md`). They run before the bundled ones.
   */
  readonly recipes?: readonly unknown[];
  /** Macros, as written in YAML, each with its name (`docs/macros.md`). */
  readonly macros?: readonly unknown[];
}

/** What an arktype type returns for a value that does not fit. */
export type ConfigFaults = readonly unknown[] & { readonly summary: string };

/**
 * What `setup` receives. `Checked` is the result type of the configuration check, including the
 * faults of an arktype type.
 */
export interface PluginApi<Checked> {
  /** The value of `config` in the configuration, as the check returned it. */
  readonly config: Exclude<Checked, ConfigFaults>;
  /** Frames, and edits of requests and answers. */
  readonly tools: StageTools;
  /** The estimated cost of a request, and the log. */
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
   * Without it, the configuration reaches `setup` unchanged.
   */
  readonly config?: (value: unknown) => Checked;
  /**
   * Returns what depends on the configuration or needs the tools; it is added to the definition's
   * own parts.
   */
  readonly setup?: (api: PluginApi<Checked>) => PluginSetup | Promise<PluginSetup>;
}

/** Gives a definition its types. */
export function definePlugin<Checked>(
  definition: PluginDefinition<Checked>,
): PluginDefinition<Checked> {
  return Object.freeze(definition);
}
