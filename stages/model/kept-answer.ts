/** A complete answer that can be replayed. */
import type { Headers } from './headers.ts';
import type { Usage } from './usage.ts';

/** With the bytes that the provider sent, in their original pieces. */
export interface KeptAnswer {
  readonly status: number;
  /** Without headers specific to that exchange. */
  readonly headers: Headers;
  /** True if the body is a stream of events, so that a hit streams too. */
  readonly streaming: boolean;
  readonly chunks: readonly Buffer[];
  /** The usage that the provider reported, if the bytes may not contain it. */
  readonly usage?: Usage | undefined;
}
