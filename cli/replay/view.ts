/** Displays captures and comparisons. */
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { sizeOfRecord } from '../../stages/captures/record.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { Comparison, ThenAndNow } from '../../server/replay/compare.ts';
import { localTime, zoneName } from '../../server/dashboard/page/local-time.ts';
import { dollars, figure } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';
import { shortId } from '../../server/facts/find-request.ts';

export function listHeader(nowMs: number): string[] {
  const time = `time (${zoneName(nowMs)})`;
  return ['id', time, 'model', 'status', '>tokens', '>attempts', '>bytes', 'session'];
}

export function listRow(record: CaptureRecord, nowMs: number): string[] {
  const { id, startedMs, row, attempts } = record;
  return [
    shortId(id),
    localTime(new Date(startedMs).toISOString(), nowMs),
    row.model ?? '–',
    row.outcome === 'ok' ? String(row.status ?? '–') : row.outcome,
    figure(row.inputTokensSent),
    String(attempts.length),
    figure(sizeOfRecord(record)),
    row.sessionId ?? '–',
  ];
}

export function listJson(record: CaptureRecord) {
  const { id, startedMs, request, row, attempts } = record;
  return {
    id,
    time: new Date(startedMs).toISOString(),
    method: request.method,
    target: request.target,
    model: row.model,
    provider: row.provider,
    outcome: row.outcome,
    status: row.status,
    stream: row.stream,
    input_tokens: row.inputTokensSent,
    output_tokens: row.outputTokens,
    cost_usd: toUsd<number | null>(row.costNanoUsd),
    attempts: attempts.length,
    bytes: sizeOfRecord(record),
    session: row.sessionId,
  };
}

const textOf = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString('utf8');

/** Returns a whole capture, with bytes as text. */
export function captureJson(record: CaptureRecord) {
  const { request, attempts, answer } = record;
  return {
    ...listJson(record),
    request: { headers: pairsOf(request.headers), body: textOf(request.body) },
    attempts: attempts.map(({ response, failure, body, headers, ...attempt }) => ({
      attempt: attempt.attempt,
      provider: attempt.provider,
      origin: attempt.origin,
      path: attempt.path,
      started_ms: attempt.startedMs,
      headers: pairsOf(headers),
      body: textOf(body),
      response: response && {
        status: response.status,
        headers: pairsOf(response.headers),
        head_ms: response.headMs,
        end_ms: response.endMs,
        end: response.end,
        pieces: response.body.sizes.map((sizeBytes, at) => ({
          bytes: sizeBytes,
          at_ms: response.body.atMs[at],
        })),
        body: textOf(response.body.bytes),
        failure: response.failure,
      },
      failure,
    })),
    answer: {
      status: answer.head?.status ?? null,
      headers: pairsOf(answer.head?.headers ?? []),
      streaming: answer.head?.streaming ?? null,
      end: answer.end,
      end_ms: answer.endMs,
      body: textOf(answer.body.bytes),
      failure: answer.failure,
    },
  };
}

export function pairsOf(headers: readonly string[]): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) found.push([headers[i]!, headers[i + 1]!]);
  return found;
}

export const compareHeader = [
  'id',
  'model',
  'answer',
  '>upstream bytes',
  '>input tokens',
  '>cost',
  '>proxy ms',
  '',
];

export function compareRow(comparison: Comparison, colors: Colors): string[] {
  const { id, model, answer, upstreamBytes, inputTokens, costNanoUsd, proxyMs } = comparison;
  const cost = mapped(costNanoUsd, (nano) => dollars(toUsd<number | null>(nano)));
  return [
    shortId(id),
    model ?? '–',
    thenAndNow(answer),
    thenAndNow(mapped(upstreamBytes, figure)),
    thenAndNow(mapped(inputTokens, figure)),
    // An unrecorded figure is shown with its current value only.
    costNanoUsd.recorded === null ? cost.replayed : thenAndNow(cost),
    thenAndNow(mapped(proxyMs, (ms) => (ms === null ? '–' : ms.toFixed(1)))),
    comparison.differences.length === 0 ? colors.green('same') : colors.yellow('differs'),
  ];
}

function mapped<T>({ recorded, replayed }: ThenAndNow<T>, show: (value: T) => string) {
  return { recorded: show(recorded), replayed: show(replayed) };
}

function thenAndNow({ recorded, replayed }: ThenAndNow<string>): string {
  return recorded === replayed ? recorded : `${recorded} → ${replayed}`;
}

export function compareJson(comparison: Comparison) {
  const { id, target, model, sameAnswer, differences } = comparison;
  const usd = (nano: number | null) => toUsd<number | null>(nano);
  const cost = comparison.costNanoUsd;
  return {
    id,
    target,
    model,
    same: differences.length === 0,
    same_answer: sameAnswer,
    upstream_requests: comparison.calls,
    upstream_bytes: comparison.upstreamBytes,
    input_tokens: comparison.inputTokens,
    output_tokens: comparison.outputTokens,
    cost_usd: { recorded: usd(cost.recorded), replayed: usd(cost.replayed) },
    proxy_ms: comparison.proxyMs,
    answer: comparison.answer,
    differences,
  };
}

/** Formats JSON so that a diff shows its parts; returns any other text unchanged. */
export function readable(bytes: Uint8Array | null): string {
  const text = textOf(bytes) ?? '';
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
