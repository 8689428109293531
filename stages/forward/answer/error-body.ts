/**
 * Error answers whose message decides what happens next: it may blame the account of the key, or a
 * part of the request that this provider does not accept. The body is not consumed, so that it can
 * be passed on unchanged.
 */
import { truncateText } from '../../../engine/index.ts';
import type { Answer, Clock, WholeAnswer } from '../../../engine/index.ts';
import { isObject, parseJson } from '../../dialect/json-kind.ts';
import type { Unsupported } from '../../dialect/translate/translate.ts';
import type { ProxyFrame } from '../../model/frame.ts';
import { headerValue } from '../../model/headers.ts';
import { accountProblem } from '../../providers/account.ts';
import type { AccountProblem } from '../../providers/account.ts';
import type { UpstreamResponse } from '../../providers/upstream.ts';
import { decodeBody } from '../../wire/decode.ts';

/** Errors are short; a longer body is passed on unread. */
export const MAX_ERROR_BYTES = 64 * 1024;
/** How long the next key, or the client, waits for a message that may never come. */
const MAX_ERROR_MS = 2_000;
const NOTHING = Buffer.alloc(0);

/** Returns the result of `read`, whose `late` resolves when the wait for an error has timed out. */
export async function withErrorTimeout<T>(
  clock: Clock,
  read: (late: Promise<void>) => Promise<T>,
): Promise<T> {
  let stopTimer = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    stopTimer = clock.after(MAX_ERROR_MS, resolve);
  });
  try {
    return await read(late);
  } finally {
    stopTimer();
  }
}

/**
 * Returns the account problem that `response` reports, judged by the part that arrived in time.
 * With `isDispensable` the body may not be needed, and one that does not arrive in time is
 * abandoned. Otherwise rejects if it breaks off.
 */
export async function accountProblemIn(
  response: UpstreamResponse,
  isDispensable: boolean,
  clock: Clock,
): Promise<AccountProblem | undefined> {
  const { body, error, isLate } = await readErrorBody(response, clock);
  if (error !== undefined && !isDispensable) throw error;
  const isAbandoned = isLate && isDispensable;
  if (isAbandoned) response.body.cancel(new Error('the error message takes too long'));
  return accountProblem(response.status, error !== undefined || isAbandoned ? NOTHING : body);
}

/** How providers refuse a part of a request. */
const REFUSALS: Readonly<Record<Unsupported, RegExp>> = {
  stream_options: /stream_options|include_usage/,
  'reasoning of calls':
    /reasoning.{0,80}(?:extra|not (?:permitted|allowed|supported)|unsupported|unknown|unexpected)|(?:extra|unsupported|unknown|unexpected|unrecognized).{0,80}reasoning/i,
  'calls without reasoning': /reasoning_content/,
  // The provider's message, with or without quotation marks; other faults of thinking blocks have
  // other messages.
  'thoughts that do not match':
    /messages\.\d+\.content\.\d+: Invalid [`'"]?signature[`'"]? in [`'"]?(?:redacted_)?thinking\b/,
  'thoughts of another account':
    /invalid_encrypted_content|encrypted[_ ]content.{0,200}(?:could not be|was not issued)|Item with id .{0,9}rs_.{0,99} not found|(?:corrupted|invalid) thought[_ ]signature|thought[_ ]signature is not valid/i,
  'calls without a signature': /missing (?:a )?.{0,2}thought_?signature/i,
  'instructions in the middle':
    /system messages? (?:must|should|can only|is only allowed).{0,40}(?:begin|first|start)|unexpected role ['"\\]*system|role.{0,60}input should be .user. or .assistant/i,
};

/**
 * Returns true for an error that may be about a part of the request; 404 may mean that an item is
 * not stored there.
 */
export function mayRefuse(status: number): boolean {
  return status === 400 || status === 422 || status === 404;
}

/**
 * Returns the first of `candidates` that the answer refuses, as far as it arrived in time. If it
 * breaks off, the later reader of the body gets the error again.
 */
export async function unsupportedIn(
  response: UpstreamResponse,
  candidates: readonly Unsupported[],
  clock: Clock,
): Promise<Unsupported | undefined> {
  const { body } = await readErrorBody(response, clock);
  const text = body.toString('utf8');
  return candidates.find((each) => REFUSALS[each].test(text));
}

/**
 * Returns the decoded beginning of the body, empty if it cannot be decoded, and the error if the
 * body broke off. If it `isLate`, that is only the part that arrived in time.
 */
export async function readErrorBody(
  { headers, body }: UpstreamResponse,
  clock: Clock,
): Promise<{ readonly body: Buffer; readonly error?: Error; readonly isLate: boolean }> {
  let isLate = false;
  const { bytes, error } = await withErrorTimeout(clock, (late) => {
    void late.then(() => (isLate = true));
    return body.beginning(MAX_ERROR_BYTES, late);
  });
  if (error !== undefined) return { body: bytes, error, isLate };
  const encoding = headerValue(headers, 'content-encoding');
  const decoded = decodeBody(bytes, encoding, MAX_ERROR_BYTES).catch(() => NOTHING);
  return { body: await decoded, isLate };
}

/** Limit for the message recorded with an attempt, in UTF-16 code units. */
const MAX_MESSAGE_CHARS = 300;

/**
 * Returns the message of a complete error answer; undefined if it is not an error, still
 * incomplete, or has none.
 */
export async function messageOf(answer: Answer<ProxyFrame>): Promise<string | undefined> {
  if (!Array.isArray(answer)) return undefined;
  const [head, chunk] = answer as WholeAnswer<ProxyFrame>;
  if (head?.kind !== 'head' || head.status < 400 || chunk?.kind !== 'chunk') return undefined;
  const encoding = headerValue(head.headers, 'content-encoding');
  const bytes = await decodeBody(chunk.bytes, encoding, MAX_ERROR_BYTES).catch(() => NOTHING);
  const document = parseJson(bytes.toString('utf8'));
  const first: unknown = Array.isArray(document) ? document[0] : document;
  if (!isObject(first)) return undefined;
  const { error } = first;
  // FastAPI servers, such as the one that answers Codex subscriptions, have only a `detail`.
  const message = isObject(error)
    ? error['message']
    : (error ?? first['message'] ?? first['detail']);
  return typeof message === 'string' ? truncateText(message, MAX_MESSAGE_CHARS) : undefined;
}
