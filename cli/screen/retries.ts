/** Retried attempts, as `svc status` lists them. */
import { localTime, zoneName } from '../../server/dashboard/page/local-time.ts';
import type { Json } from '../remote.ts';
import { shortId } from '../../server/facts/find-request.ts';

/** An attempt at a provider after which the request went to another key or provider. */
export type Retry = ReturnType<typeof toRetry>;

/** More would not be read. */
const MAX_RETRIES = 20;

/** Returns the retries in `traces`; both newest first. */
export function retriesOf(traces: readonly Json[]): readonly Retry[] {
  const retries: Retry[] = [];
  for (const trace of traces) {
    const attempts = Array.isArray(trace['attempts']) ? (trace['attempts'] as Json[]) : [];
    for (let index = attempts.length - 2; index >= 0 && retries.length < MAX_RETRIES; index -= 1) {
      retries.push(toRetry(trace, attempts[index]!, attempts[index + 1]!));
    }
  }
  return retries;
}

function toRetry(trace: Json, tried: Json, next: Json) {
  return {
    request_id: trace['request_id'],
    timestamp: trace['timestamp'],
    provider: tried['provider'],
    /** Source of the key that was used; null for the client's own, or none. */
    key: tried['key'],
    model: tried['model'],
    status: tried['status'],
    failure: tried['failure'],
    next_provider: next['provider'],
    next_key: next['key'],
    /** Final outcome of the request. */
    outcome: trace['outcome'],
  };
}

export function retryHeader(nowMs: number): string[] {
  const time = `time (${zoneName(nowMs)})`;
  return ['request', time, 'tried', 'its key', 'what happened', 'then', 'with', 'outcome'];
}

/** Columns dropped on a narrow screen. */
export const RETRY_EXPENDABLE = ['with', 'its key'];

/** Returns one retry as a row. */
export function retryRow(retry: Retry, nowMs: number): string[] {
  return [
    shortId(text(retry.request_id)),
    localTime(retry.timestamp, nowMs),
    text(retry.provider),
    text(retry.key),
    text(retry.failure),
    text(retry.next_provider),
    text(retry.next_key),
    text(retry.outcome),
  ];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '–';
}
