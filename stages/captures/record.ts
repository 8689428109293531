/**
 * What is recorded of one run: the request as the client sent it, every exchange with a provider
 * as it was on the wire, the answer as it reached the sink, and the row of the ledger. Times are
 * milliseconds since the start of the run. `id` and `attempt` join it with ledger and trace.
 */

/** Bytes with where and when each piece of them came. */
export interface TimedBytes {
  readonly bytes: Uint8Array;
  /** Length of each piece, in bytes. */
  readonly sizes: readonly number[];
  /** When each piece came. */
  readonly atMs: readonly number[];
}

/** A failure: its message is for people; kind and code identify it. */
export interface CapturedFailure {
  readonly kind: string;
  readonly code: string | null;
  readonly message: string;
}

/** The client's request. */
export interface CapturedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Flat names and values, as on the wire; values of credentials are masked. */
  readonly headers: readonly string[];
  /** As on the wire, in whatever `Content-Encoding` it had. */
  readonly body: Uint8Array;
  /** Why it had to go out as it came, or null. */
  readonly untouchable: string | null;
}

export interface CapturedResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly headMs: number;
  readonly body: TimedBytes;
  /** `cancelled` where nobody wanted the rest. */
  readonly end: 'complete' | 'broken' | 'cancelled';
  readonly endMs: number;
  /** Why it broke. */
  readonly failure: CapturedFailure | null;
}

/** One request to a provider. */
export interface CapturedAttempt {
  /** Place among the attempts of the run's trace, from 0. */
  readonly attempt: number;
  readonly provider: string;
  readonly startedMs: number;
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: readonly string[];
  /** Null for a request without a body. */
  readonly body: Uint8Array | null;
  /** Null where not even a head came. */
  readonly response: CapturedResponse | null;
  /** Why none came. */
  readonly failure: CapturedFailure | null;
}

/** The answer as the client got it. */
export interface CapturedAnswer {
  /** Null where the run failed before. */
  readonly head: {
    readonly status: number;
    readonly headers: readonly string[];
    readonly streaming: boolean;
    readonly atMs: number;
  } | null;
  readonly body: TimedBytes;
  readonly end: 'complete' | 'failed' | 'cancelled';
  readonly endMs: number;
  readonly failure: CapturedFailure | null;
}

/** The part of the ledger's row that a replay is compared with; null is unmeasured. */
export interface CapturedRow {
  readonly outcome: 'ok' | 'error' | 'cancelled' | 'partial';
  readonly provider: string | null;
  readonly model: string | null;
  readonly status: number | null;
  readonly stream: boolean;
  readonly mode: string | null;
  readonly cacheHit: boolean;
  readonly inputTokensSent: number | null;
  readonly savedTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly costNanoUsd: number | null;
  readonly latencyMs: number | null;
  readonly client: string | null;
  readonly sessionId: string | null;
}

/** One recorded run. */
export interface CaptureRecord {
  /** The request id of ledger and trace. */
  readonly id: string;
  /** Wall time of the first byte of the request, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly request: CapturedRequest;
  readonly attempts: readonly CapturedAttempt[];
  readonly answer: CapturedAnswer;
  readonly row: CapturedRow;
}

/** The members of a ledger's row that are kept. */
export function capturedRow(row: CapturedRow): CapturedRow {
  return {
    outcome: row.outcome,
    provider: row.provider,
    model: row.model,
    status: row.status,
    stream: row.stream,
    mode: row.mode,
    cacheHit: row.cacheHit,
    inputTokensSent: row.inputTokensSent,
    savedTokens: row.savedTokens,
    outputTokens: row.outputTokens,
    cacheReadTokens: row.cacheReadTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    costNanoUsd: row.costNanoUsd,
    latencyMs: row.latencyMs,
    client: row.client,
    sessionId: row.sessionId,
  };
}

/** The pieces of `bytes` as they came. */
export function piecesOf({ bytes, sizes }: TimedBytes): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  return sizes.map((size) => all.subarray(at, (at += size)));
}

/** Bytes in a record, in all. */
export function sizeOfRecord({ request, attempts, answer }: CaptureRecord): number {
  return attempts.reduce(
    (sum, { body, response }) => sum + (body?.length ?? 0) + (response?.body.bytes.length ?? 0),
    request.body.length + answer.body.bytes.length,
  );
}
