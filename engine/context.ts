/**
 * What a stage knows about its run: the run's identity, whether it is cancelled, the time, and
 * where to leave notes for the trace.
 */
import type { CancelSignal } from './cancel.ts';
import type { Clock } from './clock.ts';

/** A stage's state: private to it, so the engine passes it on and never looks inside. */
// oxlint-disable-next-line typescript/no-explicit-any
export type StageState = any;

/** Why a run was stopped from outside. */
export type CancelReason = 'client_gone' | 'timeout' | 'shutdown';

/** The reason passed to every abort signal of a run. */
export class Cancelled extends Error {
  readonly reason: CancelReason;
  constructor(reason: CancelReason) {
    super(`The run was cancelled: ${reason}`);
    this.name = 'Cancelled';
    this.reason = reason;
  }
}

/** A value that a trace can contain. */
export type NoteValue =
  | string
  | number
  | boolean
  | null
  | readonly NoteValue[]
  | { readonly [key: string]: NoteValue };

/** One request on its way through the graph. */
export interface RunInfo {
  /** Unique id, matching `^[A-Za-z0-9_-]{1,64}$`; also sent as `X-Request-ID`. */
  readonly id: string;
  readonly clock: Clock;
  /** Wall time when the first byte of the request arrived, in milliseconds since the epoch. */
  readonly startedWallMs: number;
  /** Monotonic time of the same moment, in milliseconds. */
  readonly startedMs: number;
  /** Aborted with a `Cancelled` when the run must stop. */
  readonly signal: CancelSignal;
}

/** What the engine passes to a handler, one object per node and run. */
export interface StageContext<State = unknown> {
  readonly run: RunInfo;
  /** The node's name in the graph. */
  readonly node: string;
  /** True if a later stage reads events, so that an answer given here must not be encoded. */
  readonly needsEvents: boolean;
  /** What `open` returned. */
  state: State;
  /**
   * Adds a fact to this node's entry in the trace. A later note with the same name replaces the
   * earlier one.
   */
  note(name: string, value: NoteValue): void;
  /** Returns the node with this name inside this one, or undefined. */
  readonly inner?: ((name: string) => InnerRun | undefined) | undefined;
}

/** A node inside another, in one run: the stage around it reports its timing. */
export interface InnerRun {
  /** Records a frame that went in at `inMs` and came out at `outMs`, both monotonic. */
  recordFrame(inMs: number, outMs: number): void;
  /** Records that the last frame of this node's answer has left it. */
  recordAnswerEnd(outMs: number): void;
}
