/** Shared parts of the readers for other tools' recordings. */

/** An exchange with a provider, as recorded by another tool. */
export interface ForeignExchange {
  /** Unique in its file. */
  readonly id: string;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly method: string;
  /** Path and query as a client of the proxy would send them. */
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly status: number;
  /** Without headers about the connection or an encoding: `answer` is decoded. */
  readonly answerHeaders: readonly string[];
  readonly answer: Buffer;
  readonly client: string | null;
  readonly sessionId: string | null;
}
