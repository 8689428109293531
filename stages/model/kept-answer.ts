/** A complete answer that can be given again. */
import type { Headers } from './headers.ts';
import type { Usage } from './usage.ts';

/** With the bytes that the provider sent, in the pieces in which they came. */
export interface KeptAnswer {
  readonly status: number;
  /** Without what belonged to that one exchange. */
  readonly headers: Headers;
  /** True if the body is a stream of events, so that a hit streams too. */
  readonly streaming: boolean;
  readonly chunks: readonly Buffer[];
  /** The usage that the provider reported, where the bytes need not hold it. */
  readonly usage?: Usage | undefined;
}
