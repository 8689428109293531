/**
 * Imports other tools' recordings as captures: HAR files of a browser or proxy, sessions of Claude
 * Code, capture files.
 */
import { SvcError } from '../../engine/index.ts';
import { decodeRecords } from '../../stages/captures/decode.ts';
import type { CaptureRecord, CapturedRow } from '../../stages/captures/record.ts';
import { scrubRecord } from '../../stages/captures/scrub.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';
import { totalInputTokens } from '../../stages/model/usage.ts';
import { credentialsOf } from '../log/credentials.ts';
import { secretPatterns } from '../../stages/model/secret-forms.ts';
import type { ForeignExchange } from './foreign-exchange.ts';
import { readHar } from './import-har.ts';
import { readSession } from './import-session.ts';

/** Contents of a file. */
export interface Imported {
  readonly records: readonly CaptureRecord[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
}

/**
 * Returns the captures in `bytes`.
 *
 * @throws SvcError `bad_request` for any other kind of file.
 */
export async function importCaptures(bytes: Buffer): Promise<Imported> {
  if (bytes.length > 0 && bytes[0]! >= 0x80) {
    const { records, rest } = decodeRecords(bytes);
    return { records, notes: rest === undefined ? [] : [rest] };
  }
  const { exchanges, notes } = readForeign(bytes.toString('utf8'));
  const records: CaptureRecord[] = [];
  let left = 0;
  for (const exchange of exchanges) {
    const record = toRecord(exchange);
    if (record === undefined) left += 1;
    else {
      const own = credentialsOf(exchange.headers, exchange.target).filter((one) => one.length >= 8);
      records.push(await scrubRecord(record, { known: secretPatterns(own) }));
    }
  }
  if (left > 0) notes.push(`${left} of other requests than those that are proxied were left out`);
  return { records, notes };
}

function readForeign(text: string): { exchanges: ForeignExchange[]; notes: string[] } {
  const json = parseJson(text);
  if (isObject(json) && isObject(json['log'])) return readHar(json['log']);
  const session = readSession(text);
  if (session !== undefined) return session;
  throw new SvcError('bad_request', 'Not a capture file, HAR or session', {
    cure: 'Sessions of Claude Code are the .jsonl files below ~/.claude/projects.',
  });
}

function toRecord(exchange: ForeignExchange): CaptureRecord | undefined {
  const { id, method, target, headers, body, status, answerHeaders, answer } = exchange;
  const endpoint = resolveEndpoint(method, target, headers);
  if (endpoint === undefined || 'allow' in endpoint || endpoint.operation !== 'generate')
    return undefined;
  const contentType = answerHeaders[answerHeaders.findIndex(isContentType) + 1] ?? '';
  const streaming = contentType.toLowerCase().startsWith('text/event-stream');
  const provider = endpoint.defaultKind === 'by-credential' ? 'chat' : endpoint.defaultKind;
  const timed = {
    bytes: answer,
    sizes: answer.length === 0 ? [] : [answer.length],
    atMs: answer.length === 0 ? [] : [exchange.durationMs],
  };
  return {
    id,
    startedMs: exchange.startedMs,
    request: { method, target, headers, body, untouchable: null },
    attempts: [
      {
        attempt: 0,
        provider,
        startedMs: 0,
        origin: '',
        path: target,
        method,
        headers: [],
        body,
        response: {
          status,
          headers: answerHeaders,
          headMs: 0,
          body: timed,
          end: 'complete',
          endMs: exchange.durationMs,
          failure: null,
        },
        failure: null,
      },
    ],
    answer: {
      head: { status, headers: answerHeaders, streaming, atMs: 0 },
      body: timed,
      end: 'complete',
      endMs: exchange.durationMs,
      failure: null,
    },
    row: toRow(exchange, provider, endpoint.dialect, streaming),
  };
}

function isContentType(name: string, index: number): boolean {
  return index % 2 === 0 && name.toLowerCase() === 'content-type';
}

function toRow(
  { answer, status, client, sessionId, durationMs, body }: ForeignExchange,
  provider: string,
  dialect: keyof typeof dialects,
  stream: boolean,
): CapturedRow {
  const observer = dialects[dialect].observeUsage(stream);
  observer.push(answer);
  observer.ended?.();
  const usage = observer.usage();
  const request = parseJson(body.toString('utf8'));
  const named = isObject(request) && typeof request['model'] === 'string' ? request['model'] : null;
  return {
    outcome: status < 400 ? 'ok' : 'error',
    provider,
    model: observer.model() ?? named,
    status,
    stream,
    mode: null,
    cacheHit: false,
    inputTokensSent: totalInputTokens(usage),
    savedTokens: null,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    costNanoUsd: null,
    latencyMs: durationMs,
    client,
    sessionId,
  };
}
