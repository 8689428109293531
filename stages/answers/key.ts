/**
 * Which requests may be answered from the response cache, and when two of them are identical.
 *
 * The key covers the credential, the provider, the path and the whole body that would be sent, so
 * two users never see each other's answers and no parameter of a request is missed. Two exceptions:
 * the order of a body's top-level members, which means nothing to any provider, is ignored, and the
 * per-request billing line that some clients put first is left out. Below the top level the order
 * counts, since a model may see it (a tool's schema).
 */
import { createHash } from 'node:crypto';
import { isObject } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { JsonPath } from '../model/block.ts';
import type { Headers } from '../model/headers.ts';
import { headerSwitch, headerValue } from '../model/headers.ts';
import { findSpans } from '../wire/json-path.ts';
import { membersOf } from '../wire/members.ts';
import type { Member } from '../wire/members.ts';
import { letsProviderAct } from './repeatable.ts';

/** A request as it would be sent. */
export interface KeyedRequest {
  /**
   * The key to be sent, a client's own or a configured one; empty for none. Only its hash is used.
   */
  readonly credential: string;
  readonly provider: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Headers by which a provider answers the same body differently. */
const VARIANTS = ['accept-encoding', 'anthropic-version', 'anthropic-beta', 'openai-beta'] as const;

/**
 * Returns the SHA-256 of everything that identifies a request, in hex. At most some 10 µs per
 * kilobyte, so check `mayKeep` first.
 */
export function answerKey(request: KeyedRequest): string {
  const hash = createHash('sha256');
  const add = (part: string | Buffer): void => {
    // With lengths, so that no two lists of parts concatenate to the same text.
    hash.update(`${Buffer.byteLength(part)}:`).update(part);
  };
  add(createHash('sha256').update(request.credential).digest());
  add(request.provider);
  add(request.path);
  for (const name of VARIANTS) add(headerValue(request.headers, name) ?? '');
  for (const part of bodyParts(request.body)) add(part);
  return hash.digest('hex');
}

/**
 * Returns true if a request permits the same answer twice: it asks for temperature 0, changes
 * nothing at its provider and does not let it act, or has `x-svc-cache: on`. `x-svc-cache: off`
 * always wins.
 */
export function mayKeep(headers: Headers, body: unknown): boolean {
  const override = headerSwitch(headers, 'x-svc-cache');
  if (override !== undefined) return override;
  if (!isObject(body) || touchesState(body) || letsProviderAct(body)) return false;
  const { generationConfig: config } = body;
  return body['temperature'] === 0 || (isObject(config) && config['temperature'] === 0);
}

/**
 * Members by which a request creates or changes something at its provider, or uses up something.
 */
const STATEFUL_MEMBERS = [
  'container',
  'thread',
  'fallback_credit_token',
  'conversation',
  'background',
];

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** A cached response would name the same container twice, or warm no cache. */
function touchesState(body: JsonObject): boolean {
  return body['max_tokens'] === 0 || STATEFUL_MEMBERS.some((name) => isSet(body[name]));
}

const BILLING_LINE = '"x-anthropic-billing-header';
/** The path of the first text in an array of system blocks. */
const FIRST_TEXT: readonly JsonPath[] = [[0, 'text']];

/**
 * Returns the members of a body sorted by name, or the whole body if it has no suitable members.
 */
function bodyParts(body: Buffer): Buffer[] {
  const members = membersOf(body);
  if (members === undefined || !isOrderIrrelevant(members)) return [body];
  const parts: Buffer[] = [];
  for (const { spelling, start, end } of members.toSorted(bySpelling)) {
    const value = body.subarray(start, end);
    parts.push(Buffer.from(spelling), ...(spelling === 'system' ? withoutBilling(value) : [value]));
  }
  return parts;
}

/**
 * Returns false if the order matters: a name occurs twice, or is written with escapes and may equal
 * another one, and a parser takes the last of them.
 */
function isOrderIrrelevant(members: readonly Member[]): boolean {
  const spellings = new Set(members.map(({ spelling }) => spelling));
  return (
    spellings.size === members.length && !members.some(({ spelling }) => spelling.includes('\\'))
  );
}

const bySpelling = (a: Member, b: Member): number => (a.spelling < b.spelling ? -1 : 1);

function withoutBilling(system: Buffer): Buffer[] {
  // Nearly all bodies have none, so the check must be cheap.
  if (!system.includes(BILLING_LINE)) return [system];
  const line = findSpans(system, FIRST_TEXT)[0];
  if (line === undefined || !isBilling(system, line.start)) return [system];
  return [system.subarray(0, line.start), system.subarray(line.end)];
}

function isBilling(body: Buffer, start: number): boolean {
  return body.toString('latin1', start, start + BILLING_LINE.length) === BILLING_LINE;
}
