/**
 * Removes credentials from a record. A mask is as long as the text that it replaces, so that
 * lengths, pieces and JSON stay valid and a replay has the same sizes. An encoded body that
 * contains one is stored decoded, without its encoding.
 */
import { SvcError } from '../../engine/index.ts';
import { withoutNamedCredentials } from '../model/credential-members.ts';
import { withoutCredentials } from '../model/credential-shapes.ts';
import { headerValue, isCredentialField } from '../model/headers.ts';
import { createDecoder } from '../wire/decode.ts';
import type {
  CaptureRecord,
  CapturedAttempt,
  CapturedFailure,
  CapturedResponse,
  TimedBytes,
} from './record.ts';

/**
 * The visible start of a credential: the scheme (`Bearer `), and the prefix that marks a
 * subscription's token, which decides how the request is treated.
 */
const SCHEME = /^(?:[A-Za-z][\w-]*[ \t]+)?(?:sk-ant-oat)?/;
const MASK = 'redacted';

/** The secrets that must not be in a record. */
export interface CaptureSecrets {
  /**
   * Sources of regular expressions that match known secrets in each of their encodings, in Latin-1
   * text.
   */
  readonly known: readonly string[];
}

/** Replaces the credentials in a text by masks of the same length. */
type Mask = (latin1: string) => string;

/** Returns `length` characters that are not a credential. */
function maskOf(length: number): string {
  return MASK.repeat(Math.ceil(length / MASK.length)).slice(0, length);
}

/** Masks text with the shape of a credential, up to the end of its JSON string. */
function maskCredential(found: string): string {
  const end = found.search(/\\?"/);
  if (end < 0) return maskOf(found.length);
  return maskOf(end) + withoutCredentials(found.slice(end), maskCredential);
}

/**
 * Returns `record` without credentials.
 *
 * @throws SvcError `unprocessable` if an encoded body cannot be decoded, and so
 *   cannot be searched for credentials.
 */
export async function scrubRecord(
  record: CaptureRecord,
  { known }: CaptureSecrets,
): Promise<CaptureRecord> {
  const pattern = known.length === 0 ? undefined : new RegExp(known.join('|'), 'g');
  const mask: Mask = (text) => {
    const unknown =
      pattern === undefined ? text : text.replace(pattern, (found) => maskOf(found.length));
    return withoutNamedCredentials(withoutCredentials(unknown, maskCredential), ({ length }) =>
      maskOf(length),
    );
  };
  const { request, attempts, answer } = record;
  const sent = await cleanBody(request.headers, asOnePiece(request.body), mask);
  const body = await cleanBody(answer.head?.headers ?? [], answer.body, mask);
  return {
    ...record,
    request: {
      ...request,
      target: mask(request.target),
      headers: sent.headers,
      body: sent.body.bytes,
    },
    attempts: await Promise.all(attempts.map((attempt) => cleanAttempt(attempt, mask))),
    answer: {
      ...answer,
      head: answer.head && { ...answer.head, headers: body.headers },
      body: body.body,
      failure: cleanFailure(answer.failure, mask),
    },
  };
}

function asOnePiece(bytes: Uint8Array): TimedBytes {
  return { bytes, sizes: [bytes.length], atMs: [0] };
}

async function cleanAttempt(attempt: CapturedAttempt, mask: Mask): Promise<CapturedAttempt> {
  const sent = await cleanBody(attempt.headers, asOnePiece(attempt.body ?? new Uint8Array()), mask);
  return {
    ...attempt,
    path: mask(attempt.path),
    headers: sent.headers,
    body: attempt.body && sent.body.bytes,
    response: attempt.response && (await cleanResponse(attempt.response, mask)),
    failure: cleanFailure(attempt.failure, mask),
  };
}

async function cleanResponse(response: CapturedResponse, mask: Mask): Promise<CapturedResponse> {
  const { headers, body } = await cleanBody(response.headers, response.body, mask);
  return { ...response, headers, body, failure: cleanFailure(response.failure, mask) };
}

function cleanFailure(failure: CapturedFailure | null, mask: Mask): CapturedFailure | null {
  return failure && { ...failure, message: mask(failure.message) };
}

async function cleanBody(headers: readonly string[], body: TimedBytes, mask: Mask) {
  const encoding = headerValue(headers, 'content-encoding');
  const isPlain = encoding === undefined || /^(?:identity)?$/i.test(encoding.trim());
  if (isPlain || body.bytes.length === 0)
    return {
      headers: cleanHeaders(headers, mask),
      body: { ...body, bytes: maskBytes(body.bytes, mask) },
    };
  const decoded = await decodedBytes(body.bytes, encoding);
  const clean = maskBytes(decoded, mask);
  if (clean === decoded) return { headers: cleanHeaders(headers, mask), body };
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (name === 'content-encoding') continue;
    kept.push(headers[i]!, name === 'content-length' ? String(clean.length) : headers[i + 1]!);
  }
  const atMs = body.atMs.at(-1) ?? 0;
  return {
    headers: cleanHeaders(kept, mask),
    body: { bytes: clean, sizes: [clean.length], atMs: [atMs] },
  };
}

async function decodedBytes(bytes: Uint8Array, encoding: string): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  const decoder = createDecoder(encoding, (piece) => pieces.push(piece));
  decoder.push(Buffer.from(bytes));
  if (await decoder.end()) return Buffer.concat(pieces);
  throw new SvcError('unprocessable', 'a body has an encoding that cannot be decoded');
}

/** Returns the same bytes if nothing was found. */
function maskBytes(bytes: Uint8Array, mask: Mask): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const clean = mask(text);
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

function cleanHeaders(headers: readonly string[], mask: Mask): string[] {
  return headers.map((value, index) => {
    if (index % 2 === 0) return value;
    if (!isCredentialField(headers[index - 1]!)) return mask(value);
    const [scheme = ''] = SCHEME.exec(value) ?? [];
    return scheme + maskOf(value.length - scheme.length);
  });
}
