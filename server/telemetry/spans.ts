/**
 * The spans of one request: its own, one per stage and one per attempt at a provider. Never contain
 * contents.
 */
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { isFailure } from '../../stages/ledger/row.ts';
import { resultToCsv } from '../../stages/ledger/tools/results-forms.ts';
import type { Trace, TraceAttempt, TraceStage } from '../../stages/ledger/traces.ts';
import { mcpServersOf } from '../../stages/model/tool-use.ts';
import * as names from './names.ts';
import type { TraceContext } from './trace-context.ts';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A finished span. */
export interface SpanRecord {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** Milliseconds since the epoch, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  /** Error type; undefined if it did not fail. */
  readonly error: string | undefined;
  readonly attributes: Attributes;
}

/** Returns the spans, the request's first. `newId` generates the ids of the others. */
export function spansOf(
  row: LedgerRow,
  trace: Trace | undefined,
  context: TraceContext,
  newId: () => string,
): readonly SpanRecord[] {
  const { traceId, spanId } = context;
  const child = (name: string, kind: SpanRecord['kind'], fromMs: number, toMs: number) => ({
    name,
    kind,
    traceId,
    spanId: newId(),
    parentSpanId: spanId,
    startMs: row.startedMs + fromMs,
    endMs: row.startedMs + Math.max(fromMs, toMs),
  });
  const stages = (trace?.stages ?? []).map((stage) => ({
    ...child(`svc ${stage.node}`, 'internal', stage.first_in_ms ?? 0, endOf(stage)),
    error: 'error' in stage ? 'stage_failed' : undefined,
    attributes: known({ 'svc.stage': stage.node, 'svc.stage.busy_ms': stage.duration_ms }),
  }));
  const attempts = (trace?.attempts ?? []).map((attempt) => ({
    ...child(nameOf(row, attempt.model), 'client', attempt.started_ms, endOfAttempt(attempt, row)),
    error: failureOf(attempt),
    attributes: known({
      [names.OPERATION]: names.operationOf(row.endpoint),
      [names.PROVIDER]: names.providerOf(attempt.provider),
      [names.REQUEST_MODEL]: attempt.model,
      [names.STATUS_CODE]: attempt.status,
      [names.ERROR_TYPE]: attempt.failure === null ? null : shortOf(attempt.status),
    }),
  }));
  return [requestSpan(row, context), ...stages, ...attempts];
}

function requestSpan(row: LedgerRow, { traceId, spanId, parentSpanId }: TraceContext): SpanRecord {
  return {
    name: nameOf(row, row.modelRequested),
    kind: 'server',
    traceId,
    spanId,
    parentSpanId,
    startMs: row.startedMs,
    endMs: row.startedMs + (row.latencyMs ?? 0),
    error: errorOf(row),
    attributes: known({
      ...metricAttributes(row),
      [names.CONVERSATION]: row.sessionId,
      [names.INPUT_TOKENS]: row.inputTokensSent,
      [names.OUTPUT_TOKENS]: row.outputTokens,
      [names.STATUS_CODE]: row.status,
      [names.URL_PATH]: row.endpoint,
      'svc.request.id': row.id,
      'svc.outcome': row.outcome,
      'svc.key': row.keyLabel,
      'svc.project': row.project,
      'svc.tokens.saved': row.savedTokens,
      'svc.tokens.added': row.addedTokens,
      'svc.tokens.cache_read': row.cacheReadTokens,
      'svc.tokens.cache_creation': row.cacheWriteTokens,
      'svc.cache.hit': row.cacheHit,
      'svc.cost.nano_usd': row.costNanoUsd,
      'svc.tools': wordsOrNull((row.toolResults ?? []).map(resultToCsv)),
      'svc.mcp_servers': wordsOrNull(mcpServersOf(row.toolResults, row.toolSet)),
      'svc.tokens.tool_definitions': row.toolDefinitionTokens,
      'svc.cost.tool_definitions_nano_usd': row.costToolDefinitionsNanoUsd,
    }),
  };
}

/** Joins words with spaces, which tool names cannot contain; null for none. */
function wordsOrNull(words: readonly string[]): string | null {
  return words.length === 0 ? null : words.join(' ');
}

/** Returns the metric attributes. */
export function metricAttributes(row: LedgerRow): Attributes {
  return known({
    [names.OPERATION]: names.operationOf(row.endpoint),
    [names.PROVIDER]: row.provider === null ? null : names.providerOf(row.provider),
    [names.REQUEST_MODEL]: row.modelRequested,
    [names.RESPONSE_MODEL]: row.model,
    [names.ERROR_TYPE]: errorOf(row) ?? null,
  });
}

/** Returns the span name per the conventions: `{operation} {model}`. */
function nameOf({ endpoint }: LedgerRow, model: string | null): string {
  const operation = names.operationOf(endpoint);
  return model === null ? operation : `${operation} ${model}`;
}

function errorOf(row: LedgerRow): string | undefined {
  if (row.outcome === 'cancelled') return 'cancelled';
  if (!isFailure(row)) return undefined;
  return row.errorCode ?? row.errorKind ?? shortOf(row.status);
}

/** With a status, the words may be the provider's, which can quote the request. */
function failureOf({ failure, status }: TraceAttempt): string | undefined {
  if (failure === null) return undefined;
  return status === null ? failure : `status ${status}`;
}

function shortOf(status: number | null): string {
  return status === null ? '_OTHER' : String(status);
}

function endOf({
  first_in_ms: fromMs,
  last_out_ms: toMs,
  duration_ms: busyMs,
}: TraceStage): number {
  return toMs ?? (fromMs ?? 0) + busyMs;
}

/**
 * Returns the end of an attempt: the request's end for the final one, otherwise its head or its
 * failure.
 */
function endOfAttempt(
  { failure, head_ms: headMs, started_ms: fromMs }: TraceAttempt,
  row: LedgerRow,
) {
  return failure === null ? (row.latencyMs ?? fromMs) : (headMs ?? fromMs);
}

/** Removes unmeasured values. */
function known(values: Readonly<Record<string, string | number | boolean | null>>): Attributes {
  const entries = Object.entries(values);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string | number | boolean] => entry[1] !== null),
  );
}
