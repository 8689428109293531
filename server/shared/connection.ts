/** What the shared state needs of a connection to Redis, whoever makes it. */

/** What Redis answers: bytes, numbers, nothing, or a list of such. */
export type Reply = Buffer | number | null | readonly Reply[];

/** A script that Redis runs as one step. */
export interface Script {
  readonly lua: string;
}

export interface Connection {
  /** True while commands can be sent. */
  readonly isReady: boolean;
  /** One command. Rejects at once where it cannot be sent, and with what Redis says is wrong. */
  call(words: readonly (string | Buffer)[]): Promise<Reply>;
  run(script: Script, keys: readonly string[], values: readonly string[]): Promise<Reply>;
  /** Gives the connection up and makes another. */
  reconnect(): void;
  close(): void;
}

export interface ConnectionEvents {
  /** Commands can be sent. */
  ready(): void;
  /** Why it could not connect, or lost the connection; `closed` follows. */
  failed(error: Error): void;
  closed(): void;
}

/** A reply as text; undefined for what is none. */
export function textOf(reply: Reply | undefined): string | undefined {
  return Buffer.isBuffer(reply) ? reply.toString('utf8') : undefined;
}

/** A reply that is a list; empty for what is none. */
export function listOf(reply: Reply | undefined): readonly Reply[] {
  return Array.isArray(reply) ? (reply as readonly Reply[]) : [];
}
