/** How a run ended, reported to every stage exactly once. */
import type { Frame } from './frame.ts';
import type { SvcError } from './error.ts';
import type { KeptSpans } from './spans.ts';

/**
 * - `ok`: the last frame reached the sink and the sink finished.
 * - `error`: it failed before anything of the answer was handed to the sink.
 * - `cancelled`: the client left, or the run was stopped, before the end.
 * - `partial`: it failed after part of the answer had been handed to the sink.
 */
export type Outcome = 'ok' | 'error' | 'cancelled' | 'partial';

export interface Settlement<F extends Frame> {
  readonly outcome: Outcome;
  /** Set for `error`, `partial`, and for `cancelled` if there was an error. */
  readonly error: SvcError | undefined;
  /** The last frame of every kind that occurred, as it left the graph. */
  readonly last: { readonly [K in F['kind']]?: Extract<F, { readonly kind: K }> };
  /** Duration from the first byte of the request to this moment, in milliseconds. */
  readonly durationMs: number;
  /** What each node has done up to the call; overwrites `into` if given. */
  readonly spans: (into?: KeptSpans) => KeptSpans;
}
