/**
 * The recorded data of one run, as defined in `record-type.ts`. That file needs arktype, so code
 * that only writes captures imports only its types.
 */
import type { recordType } from './record-type.ts';

/** The same type, read-only at every depth. */
type DeepReadonly<T> = T extends Uint8Array
  ? Uint8Array
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T;

/** One recorded run. */
export type CaptureRecord = DeepReadonly<typeof recordType.infer>;
/** One request to a provider. */
export type CapturedAttempt = CaptureRecord['attempts'][number];
export type CapturedResponse = NonNullable<CapturedAttempt['response']>;
/** The answer as sent to the client. */
export type CapturedAnswer = CaptureRecord['answer'];
/** The part of the ledger row that a replay is compared with; null is unmeasured. */
export type CapturedRow = CaptureRecord['row'];
/** Bytes with position and arrival time of each piece. */
export type TimedBytes = CapturedAnswer['body'];
/** A failure: its message is for people; kind and code identify it. */
export type CapturedFailure = NonNullable<CapturedAnswer['failure']>;

/** Returns the members of a ledger row that are recorded. */
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

/** Returns the pieces of `bytes` as they arrived. */
export function piecesOf({ bytes, sizes }: TimedBytes): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  return sizes.map((size) => all.subarray(at, (at += size)));
}

/** Returns the total number of body bytes in a record. */
export function sizeOfRecord({ request, attempts, answer }: CaptureRecord): number {
  return attempts.reduce(
    (sum, { body, response }) => sum + (body?.length ?? 0) + (response?.body.bytes.length ?? 0),
    request.body.length + answer.body.bytes.length,
  );
}
