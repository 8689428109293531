/** What a stage of a plugin is: handlers or a stream, and its place in the graph. */
import type { Handlers, Settlement, StageContext, StageState, Watchers } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';

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
  /**
   * Milliseconds that the client may wait for it while it neither takes a frame nor emits one;
   * default 30000. Holding frames back until more of them come is no waiting.
   */
  readonly timeoutMs?: number;
}

export type PluginStage = HandlerStage | StreamStage;
