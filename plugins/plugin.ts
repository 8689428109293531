/**
 * What a plugin is: a name, the check of its configuration, and a `setup` that returns stages with
 * their places in the graph. A module's default export is one; a plain object of the same shape is
 * as good as `definePlugin`, since `setup` gets all that a stage needs.
 */
import type { Handlers, Settlement, StageContext, StageState, Watchers } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import type { StageTools } from './stage-tools.ts';
import type { PluginView } from './view.ts';

/** What becomes of a request when the plugin's own code throws or takes too long. */
export type OnFault = 'fail' | 'pass';

/** What every stage of a plugin says; it stands before or after one node of the graph. */
interface Placed {
  /** Its node in graph, trace and log; default: the plugin's name. */
  readonly name?: string;
  readonly before?: string;
  readonly after?: string;
  /** Where several plugins stand at one place, the lower comes first; default 0. */
  readonly order?: number;
  /** `events`: chunks reach it as whole events of a stream, never encoded. */
  readonly needs?: 'events';
  /** True if it may answer a request itself. */
  readonly answers?: boolean;
}

/** A stage of handlers. A handler returns what stands in its frame's place: see `Handled`. */
export interface HandlerStage extends Placed {
  /** Makes the state of one request, found at `ctx.state`. */
  readonly open?: (ctx: StageContext<undefined>) => StageState;
  readonly on?: Handlers<ProxyFrame, StageState>;
  readonly watch?: Watchers<ProxyFrame, StageState>;
  /** Called once a request, when its answer has ended or was given up. */
  readonly settled?: (settlement: Settlement<ProxyFrame>, ctx: StageContext<StageState>) => void;
  /** `fail` (the default) ends the request, `pass` lets the frame through as it came. */
  readonly onFault?: OnFault;
  /** Milliseconds that one handler may wait for a promise; default 1000. */
  readonly timeoutMs?: number;
}

/** A stage with a stream of its own, for timers and buffering. */
export interface StreamStage extends Placed {
  readonly transform: (
    ctx: StageContext<undefined>,
  ) => ReadableWritablePair<ProxyFrame, ProxyFrame>;
}

export type PluginStage = HandlerStage | StreamStage;

export interface PluginSetup {
  readonly stages: readonly PluginStage[];
  /** Recipes of compression, as they would stand in YAML (`docs/recipes.md`). They run before the bundled ones. */
  readonly recipes?: readonly unknown[];
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
export interface PluginDefinition<Checked = unknown> {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  readonly version?: string;
  /**
   * Checks the configuration: an arktype type, or any function that returns the value or throws.
   * Left out, the configuration reaches `setup` as it is.
   */
  readonly config?: (value: unknown) => Checked;
  readonly setup: (api: PluginApi<Checked>) => PluginSetup | Promise<PluginSetup>;
}

/** Gives a definition its types. */
export function definePlugin<Checked>(
  definition: PluginDefinition<Checked>,
): PluginDefinition<Checked> {
  return Object.freeze(definition);
}
