/**
 * Which requests may be answered from what was kept, and what makes two of them the same.
 *
 * The key covers the credential, the provider, the path and the whole body that would go
 * out, so two users never see each other's answers and no setting of a request is missed.
 * Two liberties are taken: the order of a body's top-level members says nothing to any
 * provider, and the per-request billing line that some clients put first is left out.
 * Below the top level the order stays, since a model may be shown it (a tool's schema).
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

/** A request as it would go out. */
export interface KeyedRequest {
  /** The key that goes out, a client's own or a configured one; empty for none. Only its hash is used. */
  readonly credential: string;
  readonly provider: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Fields by which a provider answers the same body differently. */
const VARIANTS = ['accept-encoding', 'anthropic-version', 'anthropic-beta', 'openai-beta'] as const;

/** The SHA-256 of everything that makes a request this one, in hex. Some 10 µs a kilobyte at most, so ask `mayKeep` first. */
export function answerKey(request: KeyedRequest): string {
  const hash = createHash('sha256');
  const add = (part: string | Buffer): void => {
    // With lengths, so that no two lists of parts run together into the same text.
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
 * True if a request may be answered twice with the same answer by its own words: it asks
 * for temperature 0, changes nothing at its provider and lets it not act, or says `x-svc-cache: on`. `x-svc-cache: off` is always obeyed.
 */
export function mayKeep(headers: Headers, body: unknown): boolean {
  const wish = headerSwitch(headers, 'x-svc-cache');
  if (wish !== undefined) return wish;
  if (!isObject(body) || touchesState(body) || letsProviderAct(body)) return false;
  const { generationConfig: config } = body;
  return body['temperature'] === 0 || (isObject(config) && config['temperature'] === 0);
}

/** Members by which a request makes or changes something at its provider, or spends what can be spent once. */
const STATE = ['container', 'thread', 'fallback_credit_token', 'conversation', 'background'];

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** A kept answer would name the same container twice, or warm no cache. */
function touchesState(body: JsonObject): boolean {
  return body['max_tokens'] === 0 || STATE.some((name) => isSet(body[name]));
}

const BILLING_LINE = '"x-anthropic-billing-header';
/** Where it stands in an array of system blocks. */
const FIRST_TEXT: readonly JsonPath[] = [[0, 'text']];

/** The members of a body in order of their names, or the whole of a body that has none to speak of. */
function bodyParts(body: Buffer): Buffer[] {
  const members = membersOf(body);
  if (members === undefined || !mayBeSorted(members)) return [body];
  const parts: Buffer[] = [];
  for (const { spelling, start, end } of members.toSorted(bySpelling)) {
    const value = body.subarray(start, end);
    parts.push(Buffer.from(spelling), ...(spelling === 'system' ? withoutBilling(value) : [value]));
  }
  return parts;
}

/** False where a name stands twice, or is written with escapes and might be another's: then the last one wins. */
function mayBeSorted(members: readonly Member[]): boolean {
  const spellings = new Set(members.map(({ spelling }) => spelling));
  return (
    spellings.size === members.length && !members.some(({ spelling }) => spelling.includes('\\'))
  );
}

const bySpelling = (a: Member, b: Member): number => (a.spelling < b.spelling ? -1 : 1);

function withoutBilling(system: Buffer): Buffer[] {
  // Where there is none, and that is nearly always, the search costs nothing.
  if (!system.includes(BILLING_LINE)) return [system];
  const line = findSpans(system, FIRST_TEXT)[0];
  if (line === undefined || !isBilling(system, line.start)) return [system];
  return [system.subarray(0, line.start), system.subarray(line.end)];
}

function isBilling(body: Buffer, start: number): boolean {
  return body.toString('latin1', start, start + BILLING_LINE.length) === BILLING_LINE;
}
