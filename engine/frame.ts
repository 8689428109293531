/**
 * What travels through a graph. The engine knows frames only by their `kind` and by the half of a
 * run in which a kind appears; their content is up to the stages.
 */
export interface Frame {
  readonly kind: string;
}

/** The member of the union `F` whose kind is `K`. */
export type FrameOf<F extends Frame, K extends F['kind']> = Extract<F, { readonly kind: K }>;

/**
 * The vocabulary of a graph: which kinds travel as single frames towards the answering stage, and
 * which make up the streamed answer, ending with `last`.
 */
export interface FrameKinds<F extends Frame> {
  readonly request: readonly F['kind'][];
  readonly response: readonly F['kind'][];
  /** The response kind that closes an answer. An answer that stops without it was cut off. */
  readonly last: F['kind'];
}
