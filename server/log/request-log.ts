/**
 * Logs requests: why one failed and, if requested, how each went. Uses the ledger row, which every
 * request has, and the trace, which every run has; both are complete once the client no longer
 * waits.
 */
import { truncateText } from '../../engine/index.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { isFailure } from '../../stages/ledger/row.ts';
import type { Trace, Traces } from '../../stages/ledger/traces.ts';
import type { Log, LogFields, LogLevel } from './log.ts';

/** Logs one finished request; `reason` is why a request without a run was refused. */
export type RequestLog = (row: LedgerRow, reason?: string) => void;

/**
 * At level info only failures and departed clients are reported; at debug every request, with its
 * steps.
 */
export function createRequestLog(log: Log, traces: Pick<Traces, 'get'>): RequestLog {
  return (row, refusal) => {
    const level = levelOf(row);
    const isLogged = log.isEnabled(level);
    const isTraced = log.wants('traces');
    if (!isLogged && !isTraced) return;
    const trace = traces.get(row.id);
    const reason = trace?.error ?? refusal;
    if (isLogged) log[level](messageOf(row), fieldsOf(row, trace, reason, log.isEnabled('debug')));
    if (isTraced && trace !== undefined) log.info('trace', { requestId: row.id, trace });
  };
}

function levelOf(row: LedgerRow): LogLevel {
  if (row.outcome === 'cancelled') return 'info';
  return isFailure(row) ? 'warning' : 'debug';
}

function messageOf(row: LedgerRow): string {
  if (row.outcome === 'cancelled') return 'request cancelled';
  if (row.outcome === 'partial') return 'answer broke off';
  return isFailure(row) ? 'request failed' : 'request';
}

function fieldsOf(
  row: LedgerRow,
  trace: Trace | undefined,
  reason: string | undefined,
  isDetailed: boolean,
): LogFields {
  const { endpoint, model, provider, status, latencyMs } = row;
  const error = row.errorCode ?? row.errorKind;
  return {
    requestId: row.id,
    endpoint,
    model: model ?? row.modelRequested,
    provider,
    status,
    ...(error !== null && { error }),
    ...(reason !== undefined && { reason: truncateText(reason) }),
    latencyMs: latencyMs === null ? null : Math.round(latencyMs),
    ...(isDetailed && detailsOf(row, trace)),
    ...(trace && { attempts: trace.attempts.map(withoutWords) }),
  };
}

function detailsOf(row: LedgerRow, trace: Trace | undefined): LogFields {
  const { inputTokensRaw, inputTokensSent, outputTokens, cacheHit } = row;
  const steps = trace?.stages.map(({ node, duration_ms }) => [node, duration_ms] as const);
  return {
    inputTokensRaw,
    inputTokensSent,
    tokensSaved: row.savedTokens,
    tokensAdded: row.addedTokens,
    outputTokens,
    cacheHit,
    ...(steps && { stepsMs: Object.fromEntries(steps) }),
  };
}

/** A provider's message may quote the request, whose text is never logged. */
function withoutWords(attempt: Trace['attempts'][number]) {
  return { ...attempt, words: undefined };
}
