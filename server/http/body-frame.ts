/**
 * Builds the first frame of a run from a client's request: over HTTP, by WebSocket, or replayed.
 */
import type { Caller } from '../../stages/model/caller.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { Config } from '../config/config.ts';
import { verbatimReason } from '../generation/verbatim-requests.ts';

/** An admitted request, without its body. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query in origin form. */
  readonly target: string;
  readonly headers: Headers;
  readonly endpoint: Endpoint;
  /** True while `svc pause` is in force. */
  readonly paused: boolean;
  /** The key of this proxy that the request carried. */
  readonly caller?: Caller | undefined;
}

/**
 * Returns the content encoding to undo before the body can be read; undefined if there is none.
 */
export function encodingToUndo(
  { rewritable }: Endpoint,
  contentEncoding: string | undefined,
): string | undefined {
  return rewritable && contentEncoding !== 'identity' ? contentEncoding : undefined;
}

/** Builds the body frame; `bytes` is the decoded body, `wireBytes` the body as received. */
export function toBodyFrame(
  { method, target, headers, endpoint, paused, caller }: ReceivedRequest,
  wireBytes: Buffer,
  bytes: Buffer,
  { compression, attribution }: Pick<Config, 'compression' | 'attribution'>,
): BodyFrame {
  return Object.freeze({
    kind: 'body',
    method,
    target,
    headers,
    wireBytes,
    bytes,
    endpoint,
    untouchable: paused ? 'paused' : verbatimReason(headers, compression.subscriptionTraffic),
    caller,
    readsProject: attribution.projects,
  });
}
