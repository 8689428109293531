/** What is spoken on a WebSocket connection: what a message asks for, and how answers and errors look. */
import type { RawData } from 'ws';
import type { SvcError } from '../../engine/index.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { GateRequest } from '../gate/gate.ts';
import type { SocketForm } from '../sink/ws.ts';

/** The POST that a message stands for. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly target: string;
  readonly headers: Headers;
  /** The message's own bytes, less what is for us. */
  readonly bytes: Buffer;
  /** Answer in binary frames with gzip. */
  readonly gzip: boolean;
  /** How its answer looks. */
  readonly form: SocketForm;
}

/** Of a message that needs no run: what is sent back. */
export interface Answered {
  readonly replies: readonly string[];
}

export interface SocketProtocol {
  /** In the ledger, of a message that was never read far enough to name an endpoint. */
  readonly path: string;
  /** A connection that says nothing for this long after it opened is closed; undefined: it may wait. */
  readonly firstMessageMs: number | undefined;
  /** Of the upgrade's fields, those that each request has. */
  readonly headersOf: (raw: Headers) => readonly string[];
  /** Reads a message; `headers` are the connection's. Throws SvcError for one that cannot be taken. */
  readonly read: (data: RawData, isBinary: boolean, headers: readonly string[]) => Asked | Answered;
  /** The request by which a message is judged, made of what let the connection in. */
  readonly post: (upgrade: GateRequest, asked: Asked) => GateRequest;
  /** The connection is gone: what was kept for it goes. */
  readonly close: () => void;
  /** The object that says that a message was not taken. */
  readonly errorText: (error: SvcError, requestId: string) => string;
}

/** The library hands a message over as one buffer, or as several. */
export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
