/**
 * Compares a record with its replay: the requests to providers, their cost, and the response to the
 * client. Times are shown but never count as a difference.
 */
import type {
  CaptureRecord,
  CapturedAnswer,
  CapturedAttempt,
  CapturedRow,
} from '../../stages/captures/record.ts';
import { isCredentialField, withoutHeaders } from '../../stages/model/headers.ts';
import { estimateTokens } from '../../stages/model/tokens.ts';
import type { OwnServices } from '../../stages/services.ts';

/** A figure in the record and in the replay; null means unmeasured. */
export interface ThenAndNow<T> {
  readonly recorded: T;
  readonly replayed: T;
}

/** One difference, in words. */
export interface Difference extends ThenAndNow<string> {
  readonly what: string;
}

export type Comparison = ReturnType<typeof compareRecords>;

/** Compares two records with today's providers and prices. */
export function compareRecords(
  recorded: CaptureRecord,
  replayed: CaptureRecord,
  today: OwnServices,
) {
  // A response from our cache was not sent to a provider; its row counts the original request.
  const savedTokens = recorded.row.cacheHit
    ? 0
    : estimatedInput(recorded.attempts) - estimatedInput(replayed.attempts);
  const counted = (recorded.row.cacheHit ? replayed : recorded).row.inputTokensSent;
  const inputTokens = {
    recorded: recorded.row.inputTokensSent,
    replayed: counted === null ? null : Math.max(0, counted - savedTokens),
  };
  const costNanoUsd = {
    recorded: recorded.row.costNanoUsd,
    replayed: costOf(replayed, savedTokens, today),
  };
  const outputTokens = thenAndNow(recorded, replayed, ({ row }) => row.outputTokens);
  const answer = thenAndNow(recorded, replayed, ({ answer: given }) => wordsOf(given));
  const answerDifferences = differencesOfAnswers(recorded, replayed);
  const figures: Difference[] = [];
  // A response from our cache cost nothing; a stream that broke off has only estimates.
  if (!recorded.row.cacheHit && recorded.row.outcome === 'ok') {
    figures.push(
      ...figureDifference('input tokens', inputTokens),
      ...figureDifference('output tokens', outputTokens),
      ...figureDifference('cost in nano-dollars', costNanoUsd),
    );
  }
  return {
    id: recorded.id,
    target: recorded.request.target,
    model: recorded.row.model,
    /** Requests to providers, and the sum of their body bytes. */
    calls: thenAndNow(recorded, replayed, ({ attempts }) => attempts.length),
    upstreamBytes: thenAndNow(recorded, replayed, ({ attempts }) =>
      attempts.reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
    ),
    /** The provider counted the recorded request; for the replay, the difference is estimated. */
    inputTokens,
    outputTokens,
    costNanoUsd,
    /**
     * Time in the proxy itself, before the first request to a provider and after its last byte, in
     * milliseconds.
     */
    proxyMs: thenAndNow(recorded, replayed, proxyMs),
    /** The response in a few words. */
    answer,
    /** True if status, headers, bytes and end of the response are equal. */
    sameAnswer: answerDifferences.length === 0,
    differences: [
      ...(recorded.row.cacheHit ? [] : differencesOfCalls(recorded.attempts, replayed.attempts)),
      ...figures,
      ...answerDifferences,
    ],
  };
}

function thenAndNow<T>(
  recorded: CaptureRecord,
  replayed: CaptureRecord,
  read: (record: CaptureRecord) => T,
): ThenAndNow<T> {
  return { recorded: read(recorded), replayed: read(replayed) };
}

/** Estimates the tokens of the last answered request, by the fixed estimator. */
function estimatedInput(attempts: readonly CapturedAttempt[]): number {
  const body = attempts.at(-1)?.body;
  return body ? estimateTokens(Buffer.from(body).toString('utf8')) : 0;
}

/**
 * Returns the row's cost at today's prices, minus the cost of the saved input tokens, billed
 * proportionally.
 */
function costOf(
  { row, startedMs }: CaptureRecord,
  savedTokens: number,
  { prices, providers }: OwnServices,
): number | null {
  const { costNanoUsd, model } = row;
  const provider = providers.get(row.provider ?? '');
  if (costNanoUsd === null || savedTokens === 0 || provider === undefined || model === null)
    return costNanoUsd;
  const more = Math.abs(savedTokens);
  const saved = prices.savedNanoUsd(provider, model, usageOf(row), more, startedMs);
  return saved === null ? null : Math.max(0, costNanoUsd - Math.sign(savedTokens) * saved);
}

function usageOf(row: CapturedRow) {
  const read = row.cacheReadTokens ?? 0;
  const written = row.cacheWriteTokens ?? 0;
  return {
    inputTokens: row.inputTokensSent === null ? null : row.inputTokensSent - read - written,
    outputTokens: row.outputTokens,
    cacheReadTokens: row.cacheReadTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    cacheWrite1hTokens: null,
    reasoningTokens: null,
    estimated: true,
  };
}

function proxyMs({ attempts, answer }: CaptureRecord): number | null {
  const [first] = attempts;
  const last = attempts.at(-1)?.response;
  if (first === undefined || !last || last.end !== 'complete' || answer.end !== 'complete')
    return null;
  return first.startedMs + Math.max(0, answer.endMs - last.endMs);
}

function figureDifference(
  what: string,
  { recorded, replayed }: ThenAndNow<number | null>,
): Difference[] {
  // A figure that was not recorded cannot have changed.
  if (recorded === replayed || recorded === null) return [];
  return [{ what, recorded: String(recorded ?? '–'), replayed: String(replayed ?? '–') }];
}

function differencesOfCalls(
  recorded: readonly CapturedAttempt[],
  replayed: readonly CapturedAttempt[],
): Difference[] {
  const found: Difference[] = [];
  for (let at = 0; at < Math.max(recorded.length, replayed.length); at += 1) {
    const then = recorded[at];
    const now = replayed[at];
    const name = at === 0 ? 'request upstream' : `request upstream ${at + 1}`;
    if (then === undefined || now === undefined) {
      const describe = (one: CapturedAttempt | undefined) =>
        one === undefined ? 'none' : `${one.method} ${one.path} to ${one.provider}`;
      found.push({ what: name, recorded: describe(then), replayed: describe(now) });
      continue;
    }
    const add = (what: string, read: (one: CapturedAttempt) => string) => {
      if (read(then) !== read(now))
        found.push({ what: `${name}: ${what}`, recorded: read(then), replayed: read(now) });
    };
    add('provider', ({ provider }) => provider);
    add('path', ({ method, path }) => `${method} ${path}`);
    // Records imported from other tools have no headers.
    if (then.headers.length > 0) add('header fields', ({ headers }) => fieldsOf(headers));
    if (!sameBytes(then.body, now.body))
      found.push({
        what: `${name}: body`,
        recorded: sizeWords(then.body),
        replayed: sizeWords(now.body),
      });
  }
  return found;
}

/** Formats headers as one text; credentials and headers that depend on the body by name only. */
function fieldsOf(headers: readonly string[]): string {
  const fields: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const isHidden = isCredentialField(name) || name === 'content-length';
    fields.push(isHidden ? name : `${name}: ${headers[i + 1]!}`);
  }
  return fields.toSorted().join('; ');
}

function differencesOfAnswers(then: CaptureRecord, now: CaptureRecord): Difference[] {
  const found: Difference[] = [];
  const add = (what: string, recorded: string, replayed: string) => {
    if (recorded !== replayed) found.push({ what: `answer: ${what}`, recorded, replayed });
  };
  const [a, b] = [then.answer, now.answer];
  add('status', statusOf(a), statusOf(b));
  add('header fields', answerFields(a), answerFields(b));
  add('end', a.end, b.end);
  const isCut = a.end === 'cancelled' && b.end === 'cancelled';
  const same = isCut
    ? isBeginning(a.body.bytes, b.body.bytes)
    : sameBytes(a.body.bytes, b.body.bytes);
  if (!same)
    found.push({
      what: 'answer: bytes',
      recorded: sizeWords(a.body.bytes),
      replayed: sizeWords(b.body.bytes),
    });
  return found;
}

/** Whether our cache was used is not part of the response itself. */
function answerFields({ head }: CapturedAnswer): string {
  return fieldsOf(withoutHeaders(head?.headers ?? [], (name) => name === 'x-svc-cache'));
}

function statusOf({ head, failure }: CapturedAnswer): string {
  if (head !== null) return String(head.status);
  return failure === null ? 'none' : `${failure.kind}${failure.code ? ` ${failure.code}` : ''}`;
}

function wordsOf(answer: CapturedAnswer): string {
  return `${statusOf(answer)}, ${sizeWords(answer.body.bytes)}, ${answer.end}`;
}

function sizeWords(bytes: Uint8Array | null): string {
  return bytes === null ? 'none' : `${bytes.length} bytes`;
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return Buffer.compare(a, b) === 0;
}

/** How much a departed client received depends on when it left. */
function isBeginning(a: Uint8Array, b: Uint8Array): boolean {
  const length = Math.min(a.length, b.length);
  return sameBytes(a.subarray(0, length), b.subarray(0, length));
}
