/** A request as it arrives: the first frame of a run. */
import type { Caller } from './caller.ts';
import type { Endpoint } from './endpoint.ts';
import type { Headers } from './headers.ts';

/** A request as it arrived: collected under the gate and the size cap. */
export interface BodyFrame {
  readonly kind: 'body';
  readonly method: string;
  /** Path and query as sent, such as `/v1/messages?beta=true`. */
  readonly target: string;
  readonly headers: Headers;
  /** The body as received, in its `Content-Encoding`. */
  readonly wireBytes: Buffer;
  /** The decoded body; the same buffer if it was not encoded or may not be decoded. */
  readonly bytes: Buffer;
  /** How this path is served; the server's router determined it before the body was read. */
  readonly endpoint: Endpoint;
  /**
   * Why this request must be sent as it arrived; undefined if stages may edit it. `size`: it has
   * too many values to be parsed.
   */
  readonly untouchable?: 'bypass' | 'paused' | 'subscription' | 'size' | undefined;
  /** The key of this proxy that the request came with; undefined if there was none. */
  readonly caller?: Caller | undefined;
  /** True if its project may be read from its prompt. */
  readonly readsProject?: boolean;
}
