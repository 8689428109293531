/**
 * The wire to the providers: one request out, a head and a body back. Reads of
 * one turn of the event loop are joined into one chunk, and a reader that stops
 * pauses the socket.
 */
import type { CancelSignal } from '../../engine/index.ts';
import type { Headers } from '../model/headers.ts';

export interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Headers;
  /** Undefined for a request without a body. */
  readonly body: Buffer | undefined;
  /** Time for connecting and for the response head; 0 waits for ever. */
  readonly headTimeoutMs: number;
  /** Longest silence inside the body; 0 allows any. */
  readonly idleTimeoutMs: number;
  readonly signal: CancelSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: UpstreamBody;
}

/** A response body, read once and by one reader: pieces as they come, `undefined` at its proper end. */
export interface UpstreamBody {
  /** The next piece, joined from whatever has arrived. Rejects with a `SvcError` if the body breaks off. */
  read(): Promise<Buffer | undefined>;
  /** A piece that is there already, `undefined` at the proper end, or `null` if one has to wait. */
  poll(): Buffer | undefined | null;
  /** Ends the exchange; the connection is closed if the body was not complete. */
  cancel(reason: unknown): void;
}

export interface Upstream {
  /**
   * Sends a request and waits for the head. Throws `bad_gateway` (PROVIDER_003)
   * if none arrives, `gateway_timeout` (TIMEOUT_001) if it does not arrive in
   * time, and the signal's reason if it aborts.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** Closes idle connections and waits for none. */
  close(): Promise<void>;
}
