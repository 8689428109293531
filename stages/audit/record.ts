/**
 * One record of the audit log: a line of JSON that names the previous record and ends in an
 * HMAC-SHA-256 over the exact bytes before it in the line.
 */
import { createHmac } from 'node:crypto';

/** What records are about. */
export const AUDIT_KINDS = [
  'request',
  'config',
  'key',
  'plugin',
  'control',
  'proxy',
  'audit',
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** A detail of an event. Only metadata: never a body, never a secret. */
export type AuditValue = string | number | boolean | null | readonly string[];

/** An event before it has a place in the chain. */
export interface AuditEvent {
  /** Wall time, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly kind: AuditKind;
  /** What happened, in one word, such as `reloaded`. */
  readonly event: string;
  readonly details: Readonly<Record<string, AuditValue>>;
}

/** The end of a chain: its number of records so far, and the MAC of the last, 64 hex digits. */
export interface ChainEnd {
  readonly seq: number;
  readonly mac: string;
}

/** A record that was read and is authentic. `start` opens a log whose older records were pruned. */
export interface AuditRecord extends ChainEnd {
  readonly atMs: number;
  readonly kind: AuditKind | 'start';
  readonly event: string;
  readonly prev: string;
  /** The other members, as in the line. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The end of a chain without records. */
export const EMPTY_CHAIN: ChainEnd = { seq: 0, mac: '0'.repeat(64) };

const MAX_TEXT_CHARS = 200;
const MAX_ITEMS = 200;
/** `,"mac":"` … `"}` */
const TAIL_BYTES = 74;
const TAIL = /^,"mac":"([0-9a-f]{64})"\}$/;

/** Returns the line of `event` after `end`, without a line break, and the new end. */
export function sealEvent(
  key: Buffer,
  end: ChainEnd,
  event: AuditEvent,
): { readonly line: string; readonly end: ChainEnd } {
  return seal(key, end.seq + 1, end.mac, event);
}

/** Returns the line that replaces all pruned records up to `end`. */
export function sealStart(
  key: Buffer,
  end: ChainEnd,
  start: { readonly atMs: number; readonly removed: number; readonly before: string },
): string {
  const { atMs, removed, before } = start;
  const details = { removed, before };
  return seal(key, end.seq, end.mac, { atMs, kind: 'start', event: 'pruned', details }).line;
}

function seal(
  key: Buffer,
  seq: number,
  prev: string,
  { atMs, kind, event, details }: Omit<AuditEvent, 'kind'> & { readonly kind: string },
): { readonly line: string; readonly end: ChainEnd } {
  const time = new Date(atMs).toISOString();
  const body = ascii(JSON.stringify({ seq, time, kind, event, ...clipped(details), prev }));
  const open = body.slice(0, -1);
  const mac = macOf(key, open);
  return { line: `${open},"mac":"${mac}"}`, end: { seq, mac } };
}

/**
 * Reads a line without its line break. Undefined unless it was sealed with `key` and is unchanged.
 */
export function openRecord(key: Buffer, line: Buffer): AuditRecord | undefined {
  const open = line.subarray(0, -TAIL_BYTES);
  const mac = TAIL.exec(line.subarray(-TAIL_BYTES).toString('latin1'))?.[1];
  if (mac === undefined || mac !== macOf(key, open)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its MAC says that it is ours
  const { seq, time, kind, event, prev, ...rest } = JSON.parse(line.toString('latin1')) as {
    readonly seq: number;
    readonly time: string;
    readonly kind: AuditRecord['kind'];
    readonly event: string;
    readonly prev: string;
    readonly [name: string]: unknown;
  };
  const { mac: _mac, ...details } = rest;
  return { seq, atMs: Date.parse(time), kind, event, prev, mac, details };
}

/** Returns the HMAC-SHA-256 as 64 hex digits. */
export function macOf(key: Buffer, text: string | Buffer): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Limits the length of text from outside, and so of the line. */
function clipped(details: AuditEvent['details']): Record<string, AuditValue> {
  const clip = (value: AuditValue): AuditValue => {
    if (typeof value === 'string') return value.slice(0, MAX_TEXT_CHARS);
    if (typeof value !== 'object' || value === null) return value;
    return value.slice(0, MAX_ITEMS).map((text) => text.slice(0, MAX_TEXT_CHARS));
  };
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, clip(value)]));
}

/** Encodes JSON in visible ASCII, so that a line can be shown on any terminal. */
function ascii(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
