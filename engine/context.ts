/**
 * What a stage knows about the run that it takes part in: who it is, whether it
 * has been cancelled, what time it is, and where to leave notes for the trace.
 */
import type { CancelSignal } from './cancel.ts';
import type { Clock } from './clock.ts';

/** The state of some stage: private to it, so the engine passes it on and never looks inside. */
// oxlint-disable-next-line typescript/no-explicit-any
export type StageState = any;

/** Why a run was stopped from outside. */
export type CancelReason = 'client_gone' | 'timeout' | 'shutdown';

/** The reason given to every abort signal of a run. */
export class Cancelled extends Error {
  readonly reason: CancelReason;
  constructor(reason: CancelReason) {
    super(`The run was cancelled: ${reason}`);
    this.name = 'Cancelled';
    this.reason = reason;
  }
}

/** A value that may stand in a trace. */
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
  /** Wall time of the first byte of the request, in milliseconds since the epoch. */
  readonly startedWallMs: number;
  /** Monotonic time of the same moment. */
  readonly startedMs: number;
  /** Aborted with a `Cancelled` when the run must stop. */
  readonly signal: CancelSignal;
}

/** What the engine hands to a handler, one object a node and run. */
export interface StageContext<State = unknown> {
  readonly run: RunInfo;
  /** The node's name in the graph. */
  readonly node: string;
  /** True if a stage behind this node reads events, so that what answers here must be readable. */
  readonly needsEvents: boolean;
  /** What `open` returned. */
  state: State;
  /** Adds a fact to this node's entry in the trace. A later note of the same name replaces the earlier one. */
  note(name: string, value: NoteValue): void;
  /** The node of that name inside this one; undefined where there is none. */
  readonly inner?: ((name: string) => InnerRun | undefined) | undefined;
}

/** A node inside another, in one run: the stage around it says when it was at work. */
export interface InnerRun {
  /** It took a frame at `inMs` and gave one at `outMs`, both monotonic. */
  timed(inMs: number, outMs: number): void;
  /** The last frame of the answer that it gave has left it. */
  answered(outMs: number): void;
}
