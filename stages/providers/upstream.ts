/**
 * The connection to the providers: one request out, a head and a body back. Reads of one turn of
 * the event loop are combined into one chunk, and a reader that stops pauses the socket.
 */
import type { CancelSignal } from '../../engine/index.ts';
import type { Headers } from '../model/headers.ts';
import type { ResponseBody } from './response-body.ts';

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
  /** Pieces as they arrive, each combining what has arrived. Breaks with a `SvcError`. */
  readonly body: ResponseBody;
}

/**
 * Reads a body to its end; returns undefined if it is longer than `maxBytes`, which cancels it.
 * Rejects if it breaks off.
 */
export async function readWhole(body: ResponseBody, maxBytes: number): Promise<Buffer | undefined> {
  const { bytes, error } = await body.beginning(maxBytes + 1);
  if (error !== undefined) throw error;
  if (bytes.length <= maxBytes) return bytes;
  body.cancel(new Error('it is too long'));
  return undefined;
}

/**
 * Which attempt of which run a request is, so that its recording can be joined with the ledger and
 * the trace.
 */
export interface UpstreamCall {
  readonly runId: string;
  /** Index among the attempts of the run's trace, from 0. */
  readonly attempt: number;
  /** The provider's configured name. */
  readonly provider: string;
  /**
   * Called once the whole request was written to the connection: the provider has it, whatever
   * follows.
   */
  readonly onSent?: () => void;
}

export interface Upstream {
  /**
   * Sends a request and waits for the head. Throws `bad_gateway` (PROVIDER_003) if none arrives,
   * `gateway_timeout` (TIMEOUT_001) if it does not arrive in time, and the signal's reason if it
   * aborts. `call` is absent for requests outside a run.
   */
  send(request: UpstreamRequest, call?: UpstreamCall): Promise<UpstreamResponse>;
  /** Closes idle connections without waiting for others. */
  close(): Promise<void>;
}
