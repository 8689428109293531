/**
 * The recorded data of one run: the request as the client sent it, every exchange with a provider
 * as on the wire, the answer as sent to the client, and the ledger row. Times are milliseconds
 * since the start of the run. `id` and `attempt` link it to ledger and trace.
 */
import { type } from 'arktype';

const bytes = type.instanceOf(Uint8Array);
/** A failure: its message is for people; kind and code identify it. */
const failure = type({ kind: 'string', code: 'string|null', message: 'string' }).or('null');
/** Bytes with the length and arrival time of each piece. */
const timed = type({ bytes, sizes: 'number.integer[]', atMs: 'number[]' }).narrow(
  ({ bytes: all, sizes, atMs }) =>
    atMs.length === sizes.length &&
    sizes.every((size) => size >= 0) &&
    sizes.reduce((sum, size) => sum + size, 0) === all.length,
);
const count = type('number|null');
const text = type('string|null');

export const recordType = type({
  /** The request id of ledger and trace. */
  id: /^[A-Za-z0-9_-]{1,64}$/,
  /**
   * Wall time of the first byte of the request, in milliseconds since the epoch; at most the
   * maximum of a `Date`.
   */
  startedMs: '0<=number<=8640000000000000',
  request: {
    method: 'string',
    /** Path and query. */
    target: 'string',
    /** Flat names and values, as on the wire; values of credentials are masked. */
    headers: 'string[]',
    /** As on the wire, in its `Content-Encoding`. */
    body: bytes,
    /** Why the request had to be sent unchanged, or null. */
    untouchable: text,
  },
  attempts: type({
    /** Index among the attempts of the run's trace, from 0. */
    attempt: 'number.integer>=0',
    provider: 'string',
    startedMs: 'number',
    origin: 'string',
    path: 'string',
    method: 'string',
    headers: 'string[]',
    /** Null for a request without a body. */
    body: bytes.or('null'),
    /** Null if not even a head arrived. */
    response: type({
      status: '100<=number.integer<=999',
      headers: 'string[]',
      headMs: 'number',
      body: timed,
      /** `cancelled` if the rest of the response was not needed. */
      end: "'complete'|'broken'|'cancelled'",
      endMs: 'number',
      /** Why the response broke off. */
      failure,
    }).or('null'),
    /** Why no response arrived. */
    failure,
  }).array(),
  answer: {
    /** Null if the run failed before it had an answer. */
    head: type({
      status: '100<=number.integer<=999',
      headers: 'string[]',
      streaming: 'boolean',
      atMs: 'number',
    }).or('null'),
    body: timed,
    end: "'complete'|'failed'|'cancelled'",
    endMs: 'number',
    failure,
  },
  row: {
    outcome: "'ok'|'error'|'cancelled'|'partial'",
    provider: text,
    model: text,
    status: count,
    stream: 'boolean',
    mode: text,
    cacheHit: 'boolean',
    inputTokensSent: count,
    savedTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    costNanoUsd: count,
    latencyMs: count,
    client: text,
    sessionId: text,
  },
});
