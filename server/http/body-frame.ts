/** The first frame of a run, made of what a client sent: over HTTP, by WebSocket, or long ago. */
import type { Caller } from '../../stages/model/caller.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { Config } from '../config/config.ts';
import { untouchableBecause } from '../generation/untouchable.ts';

/** A request behind the gate, without its body. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query in origin form. */
  readonly target: string;
  readonly headers: Headers;
  readonly endpoint: Endpoint;
  /** True while `svc pause` is in force. */
  readonly paused: boolean;
  /** The key of this proxy that it came with. */
  readonly caller?: Caller | undefined;
}

/** The encoding that has to be undone before the body can be read; undefined where there is none. */
export function encodingToUndo(
  { rewritable }: Endpoint,
  contentEncoding: string | undefined,
): string | undefined {
  return rewritable && contentEncoding !== 'identity' ? contentEncoding : undefined;
}

/** `bytes` is the body decoded, `wireBytes` as it was on the wire. */
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
    untouchable: paused ? 'paused' : untouchableBecause(headers, compression.subscriptionTraffic),
    caller,
    readsProject: attribution.projects,
  });
}
