/** A plugin's stage: handlers or a stream, and its place in the graph. */
import type { Handlers, Settlement, StageContext, StageState, Watchers } from '../engine/index.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';

/** What happens to a request when the plugin's own code throws or takes too long. */
export type OnFault = 'fail' | 'pass';

/** Common fields of a plugin's stages; each is placed before or after one node of the graph. */
interface StagePlacement {
  /** Its node in graph, trace and log; default: the plugin's name. */
  readonly name?: string;
  readonly before?: string;
  readonly after?: string;
  /** Among several plugins at one place, lower comes first; default 0. */
  readonly order?: number;
  /** `events`: chunks arrive as whole events of a stream, never encoded. */
  readonly needs?: 'events';
  /** True if it may answer a request itself. */
  readonly answers?: boolean;
  /** Called once per request, when its answer has ended or was abandoned. */
  readonly settled?: (
    settlement: Settlement<ProxyFrame>,
    ctx: StageContext<StageState>,
  ) => void | Promise<void>;
}

/** A stage of handlers. A handler returns the replacement for its frame: see `Handled`. */
export interface HandlerStage extends StagePlacement {
  /** Creates the state of one request, available as `ctx.state`. */
  readonly open?: (ctx: StageContext<undefined>) => StageState;
  readonly on?: Handlers<ProxyFrame, StageState>;
  readonly watch?: Watchers<ProxyFrame, StageState>;
  /** `fail` (the default) ends the request, `pass` lets the frame through unchanged. */
  readonly onFault?: OnFault;
  /**
   * Milliseconds that one handler may wait for a promise, default 1000, and that the client may wait
   * for the next frame of a live answer that it returned, default 30000.
   */
  readonly timeoutMs?: number;
}

/** A stage with its own stream, for timers and buffering. */
export interface StreamStage extends StagePlacement {
  readonly transform: (
    ctx: StageContext<undefined>,
  ) => ReadableWritablePair<ProxyFrame, ProxyFrame>;
  /**
   * Milliseconds that the client may wait for it while it neither takes a frame nor emits one;
   * default 30000. Holding frames back while more of them arrive does not count.
   */
  readonly timeoutMs?: number;
}

export type PluginStage = HandlerStage | StreamStage;
