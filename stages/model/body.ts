/** A request as it arrives: the first frame of a run. */
import type { Caller } from './caller.ts';
import type { Endpoint } from './endpoint.ts';
import type { Headers } from './headers.ts';

/** A request as it came in: collected under the gate and the size cap. */
export interface BodyFrame {
  readonly kind: 'body';
  readonly method: string;
  /** Path and query as sent, such as `/v1/messages?beta=true`. */
  readonly target: string;
  readonly headers: Headers;
  /** The body as it was on the wire, in whatever `Content-Encoding` it had. */
  readonly wireBytes: Buffer;
  /** The body decoded; the same buffer where nothing was encoded or nothing may be decoded. */
  readonly bytes: Buffer;
  /** How this path is served; found by the server's router before the body was read. */
  readonly endpoint: Endpoint;
  /** Why this request must go out as it came in, or undefined where stages may edit it. `size`: it has too many values to be parsed. */
  readonly untouchable?: 'bypass' | 'paused' | 'subscription' | 'size' | undefined;
  /** The key of this proxy that it was sent with; undefined where there was none. */
  readonly caller?: Caller | undefined;
  /** True where its project may be read from its prompt. */
  readonly readsProject?: boolean;
}
