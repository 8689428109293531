/**
 * What a stage is: a name, a configuration, and a `build` that returns handlers for the frame kinds
 * it cares about, or a TransformStream of its own.
 */
import type { Answer } from './answer.ts';
import type { StageContext } from './context.ts';
import type { Frame, FrameOf } from './frame.ts';
import type { Settlement } from './settle.ts';
import type { StageState } from './context.ts';

/**
 * What replaces the frame that a handler received:
 *
 * - nothing returned: the frame itself, unchanged;
 * - a frame of the same kind (of any request kind for a request): that one;
 * - a list: all of its frames, each of which goes through the later stages. In place of a
 *   request it is a whole answer. In place of a response frame it may split it or add to it, and
 *   the empty list drops it. It keeps the order of the vocabulary: what opens an answer, or
 *   closes it, can be added to and not dropped, and a list that ends with the frame that closes
 *   ends the answer there: its source is cancelled;
 * - a live answer: in place of a request, the answer to it; in place of a response frame, that
 *   frame and all that would have followed it; their source is cancelled.
 */
export type Handled<F extends Frame> = F | Answer<F> | undefined | void;

export type Handlers<F extends Frame, State> = {
  readonly [K in F['kind']]?: (
    frame: FrameOf<F, K>,
    ctx: StageContext<State>,
  ) => Handled<F> | Promise<Handled<F>>;
};

export type Watchers<F extends Frame, State> = {
  readonly [K in F['kind']]?: (frame: FrameOf<F, K>, ctx: StageContext<State>) => void;
};

/** A stage made of handlers, fused with its neighbours into one segment. */
export interface HandlerBehaviour<F extends Frame, State = unknown> {
  /** Creates the state of one run. Called for every node before the first frame. */
  open?(ctx: StageContext<undefined>): State;
  /** May replace a frame or answer it. Only listed kinds cost anything. */
  readonly on?: Handlers<F, State>;
  /** Sees frames and changes nothing. A fault here is noted and never reaches the client. */
  readonly watch?: Watchers<F, State>;
  /** Called exactly once per run, in graph order, when the sink has finished or was destroyed. */
  settled?(settlement: Settlement<F>, ctx: StageContext<State>): void | Promise<void>;
}

/** A stage with its own stream, for timers or buffering: a segment of its own. */
export interface TransformBehaviour<F extends Frame> {
  /**
   * Returns one stream per run. It must pass on, in order, every frame that it does not mean to
   * change.
   */
  transform(ctx: StageContext<undefined>): ReadableWritablePair<F, F>;
  settled?(settlement: Settlement<F>, ctx: StageContext<StageState>): void | Promise<void>;
}

export type Behaviour<F extends Frame> = HandlerBehaviour<F, StageState> | TransformBehaviour<F>;

/** A stage ready to be a node of a graph: configuration and services are already bound. */
export interface Stage<F extends Frame> {
  readonly name: string;
  /** `events`: response chunks must end on event boundaries before they arrive here. */
  readonly needs?: 'events';
  /**
   * True if it may answer a request frame. A graph whose path has no such stage does not compile.
   */
  readonly answers?: boolean;
  readonly behaviour: Behaviour<F>;
}

/** A stage as its author writes it. */
export interface StageDefinition<F extends Frame, Config, Services> {
  readonly name: string;
  readonly needs?: 'events';
  readonly answers?: boolean;
  readonly build: (config: Config, services: Services) => Behaviour<F>;
}

/** Declares a stage; the returned function makes a `Stage` from a configuration and services. */
export function defineStage<F extends Frame, Config, Services>(
  definition: StageDefinition<F, Config, Services>,
): (config: Config, services: Services) => Stage<F> {
  const { build, ...description } = definition;
  return (config, services) =>
    Object.freeze({ ...description, behaviour: build(config, services) });
}

/** Returns true if the stage has its own stream. */
export function isTransform<F extends Frame>(
  behaviour: Behaviour<F>,
): behaviour is TransformBehaviour<F> {
  return 'transform' in behaviour;
}
