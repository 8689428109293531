/** The interface that shared state needs from a Redis connection. */

/** A reply from Redis: bytes, a number, nothing, or a list of these. */
export type Reply = Buffer | number | null | readonly Reply[];

/** A script that Redis runs as one step. */
export interface Script {
  readonly lua: string;
}

export interface Connection {
  /** True while commands can be sent. */
  readonly isReady: boolean;
  /** Sends one command. Rejects at once if it cannot be sent, and with any error from Redis. */
  call(command: readonly (string | Buffer)[]): Promise<Reply>;
  run(script: Script, keys: readonly string[], values: readonly string[]): Promise<Reply>;
  /** Drops the connection and opens another. */
  reconnect(): void;
  close(): void;
}

export interface ConnectionEvents {
  /** Called when commands can be sent. */
  ready(): void;
  /** Called with the reason for a failed or lost connection; `closed` follows. */
  failed(error: Error): void;
  closed(): void;
}

/** Returns a reply as text; undefined if it is not bytes. */
export function textOf(reply: Reply | undefined): string | undefined {
  return Buffer.isBuffer(reply) ? reply.toString('utf8') : undefined;
}

/** Returns a reply as a list; empty if it is not one. */
export function listOf(reply: Reply | undefined): readonly Reply[] {
  return Array.isArray(reply) ? (reply as readonly Reply[]) : [];
}
