/**
 * The protocol of a WebSocket connection: how messages are parsed, and how responses and errors are
 * written.
 */
import type { RawData } from 'ws';
import type { SvcError } from '../../engine/index.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { GateRequest } from '../gate/gate.ts';
import type { SocketForm } from '../sink/ws.ts';

/** The POST equivalent to a message. */
export interface MessagePost {
  readonly endpoint: Endpoint;
  readonly target: string;
  readonly headers: Headers;
  /** The message's own bytes, without members for svc. */
  readonly bytes: Buffer;
  /** Respond in binary frames with gzip. */
  readonly gzip: boolean;
  /** Form of its response. */
  readonly form: SocketForm;
}

/** The replies to a message that needs no run. */
export interface MessageReplies {
  readonly replies: readonly string[];
}

export interface SocketProtocol {
  /** Path in the ledger for a message whose endpoint is unknown. */
  readonly path: string;
  /**
   * Longest silence after opening, after which the connection is closed; undefined for no limit.
   */
  readonly firstMessageMs: number | undefined;
  /** Returns the upgrade's headers that apply to each request. */
  readonly headersOf: (raw: Headers) => readonly string[];
  /** Parses a message; `headers` are the connection's. Throws SvcError for an invalid one. */
  readonly read: (
    data: RawData,
    isBinary: boolean,
    headers: readonly string[],
  ) => MessagePost | MessageReplies;
  /** Returns the request by which a message is judged, with the connection's credentials. */
  readonly post: (upgrade: GateRequest, request: MessagePost) => GateRequest;
  /** Called when the connection is closed, to release its state. */
  readonly close: () => void;
  /** Returns the object that reports a rejected message. */
  readonly errorText: (error: SvcError, requestId: string) => string;
}

/** Returns a message as one buffer; the library may pass several. */
export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
