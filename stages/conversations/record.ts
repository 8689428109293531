/**
 * The memory of one conversation and its file format: one line of JSON per change, with only what
 * is new. For single values the last line wins and lists are merged, so a line may be read twice.
 * The lines of older versions, a pair of key and text, are read too.
 */
import { isObject, parseJson } from '../dialect/json-kind.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { applyCached, cachedAsChanges, parseCached } from './cached-turns.ts';
import type { CachedChange } from './cached-turns.ts';
import { parseTails } from './tails.ts';
import type { Tail } from './tails.ts';

/** The settings that a conversation started with, and how far it was sent. */
export interface Pin {
  readonly version: number;
  readonly mode: 'strict' | 'hybrid' | 'aggressive';
  readonly maxChars: number;
  readonly thresholdTokens: number;
  readonly logBudgetTokens: number;
  /** Ids of the learned rules and the recipes. */
  readonly applied?: string;
  readonly recipes?: string;
  /** Id of the macro that one of its requests named last. */
  readonly macro?: string;
  readonly userProse?: boolean;
  readonly longResultsTokens?: number;
  readonly forgets?: boolean;
  readonly tools?: 'off' | 'trim';
  /** Set once any of it was sent shortened. */
  readonly sent?: SentMark;
  /** Set once its client had the tool that fetches complete results; oldest first. */
  readonly fetch?: readonly FetchTurn[];
}

/** From block index `from` on, `tool` is named where lines are missing; null names none. */
export interface FetchTurn {
  readonly from: number;
  readonly tool: string | null;
}

/** How far a conversation was sent in its last turn. */
export interface SentMark {
  readonly blocks: number;
  /** Identifies the last of these blocks. */
  readonly last: string;
}

/** The line sent in place of a result that was left out while the provider's cache was cold. */
export interface LeftOut {
  readonly line: string;
  /** Tokens of what was sent before that. */
  readonly tokens: number;
}

/** Text from the user's files injected into a question. */
export interface Injected {
  readonly text: string;
  readonly ids: readonly string[];
  /** Where the blocks come from; missing in older records. */
  readonly sources?: readonly InjectedSource[];
  /** Tokens of the whole text, by the fixed estimator. */
  readonly tokens: number;
  /** When it was decided, in epoch milliseconds, and with which settings. */
  readonly atMs: number;
  readonly settings: string;
}

export interface InjectedSource {
  readonly id: string;
  readonly root: string;
  readonly sourcePath: string;
}

/** Everything that outlives a turn: the sum of all `Change`s. */
export interface ConversationRecord {
  readonly id: string;
  /** Equal for all callers; see `Original.beginning`. */
  beginning: string;
  atMs: number;
  pin: Pin | undefined;
  /**
   * Marks of blocks sent unmodified because they timed out; a mark ending in `!` is of one that
   * failed to parse.
   */
  readonly timedOut: Set<string>;
  /** Results left out while the cache was cold, by `resultKeys`. */
  readonly leftOut: Map<string, LeftOut>;
  /** Long results: true if sent in parts, false if held back. */
  readonly parts: Map<string, boolean>;
  /** By hash of the conversation up to the question; null if it must no longer be sent. */
  readonly injected: Map<string, Injected | null>;
  /** How far each of its runs was sent. */
  tails: readonly Tail[];
  /** What the newest turn of each run left in the provider's cache, by run number. */
  readonly cached: Map<number, CachedTurn>;
  /** Sent texts of its blocks (`sent-text.ts`); a block without an entry was sent unmodified. */
  sent: Map<string, string> | undefined;
  /** How far this caller sent it, if another caller sends the same conversation. */
  end: SentMark | undefined;
  /** True if an older version stored no sent texts: they have to be recomputed. */
  isOlder: boolean;
  /** Edits sent for its tools, by the hash of the tools as received. */
  readonly tools: Map<string, string>;
  /** Id of the key used, by provider. */
  readonly keys: Map<string, string>;
  /** True once thinking blocks that no longer match had to be dropped. */
  dropsThoughts: boolean;
}

/** A change to a record. */
export interface Change {
  readonly pin?: Pin;
  readonly timedOut?: readonly string[];
  readonly leftOut?: readonly (readonly [key: string, line: string, tokens: number])[];
  readonly parts?: readonly (readonly [key: string, isInParts: boolean])[];
  readonly injected?: readonly (readonly [prefix: string, injected: Injected | null])[];
  readonly tails?: readonly Tail[];
  readonly cached?: readonly CachedChange[];
  readonly sent?: readonly (readonly [key: string, text: string])[];
  readonly end?: SentMark;
  readonly tools?: readonly (readonly [key: string, values: string])[];
  readonly keys?: readonly (readonly [provider: string, key: string])[];
  readonly dropsThoughts?: true;
  readonly older?: true;
}

/** A parsed line of the file. */
export type Line =
  | {
      readonly id: string;
      readonly beginning: string;
      readonly atMs: number;
      readonly change: Change;
    }
  | { readonly recipes: string; readonly set: string }
  /** An injection by an older version, which did not record the conversation. */
  | { readonly prefix: string; readonly injected: Injected };

export function emptyRecord(id: string, beginning: string, atMs: number): ConversationRecord {
  return {
    id,
    beginning,
    atMs,
    pin: undefined,
    timedOut: new Set(),
    leftOut: new Map(),
    parts: new Map(),
    injected: new Map(),
    tails: [],
    cached: new Map(),
    sent: undefined,
    end: undefined,
    isOlder: false,
    tools: new Map(),
    keys: new Map(),
    dropsThoughts: false,
  };
}

/** The record of a conversation that is not remembered. */
export const EMPTY_RECORD: Readonly<ConversationRecord> = Object.freeze(emptyRecord('', '', 0));

/** Applies `change` to `record`. */
export function applyChange(record: ConversationRecord, change: Change): void {
  if (change.pin !== undefined) record.pin = change.pin;
  if (change.tails !== undefined) record.tails = change.tails;
  if (change.end !== undefined) record.end = change.end;
  if (change.dropsThoughts === true) record.dropsThoughts = true;
  for (const turn of change.cached ?? []) applyCached(record.cached, turn);
  for (const key of change.timedOut ?? []) record.timedOut.add(key);
  for (const [key, line, tokens] of change.leftOut ?? []) record.leftOut.set(key, { line, tokens });
  for (const [key, isInParts] of change.parts ?? []) record.parts.set(key, isInParts);
  for (const [prefix, injected] of change.injected ?? []) record.injected.set(prefix, injected);
  for (const [key, values] of change.tools ?? []) record.tools.set(key, values);
  for (const [provider, key] of change.keys ?? []) record.keys.set(provider, key);
  if (change.older === true && record.sent === undefined) record.isOlder = true;
  if (change.sent === undefined) return;
  record.isOlder = false;
  record.sent ??= new Map();
  for (const [key, text] of change.sent) record.sent.set(key, text);
}

/** Returns a whole record as one change. */
export function recordAsChange(record: Readonly<ConversationRecord>): Change {
  const { pin, timedOut, leftOut, parts, injected, tails, sent, tools, keys, dropsThoughts } =
    record;
  const { isOlder, cached, end } = record;
  return {
    ...(pin !== undefined && { pin }),
    ...(timedOut.size > 0 && { timedOut: [...timedOut] }),
    ...(leftOut.size > 0 && {
      leftOut: [...leftOut].map(([key, { line, tokens }]) => [key, line, tokens] as const),
    }),
    ...(parts.size > 0 && { parts: [...parts] }),
    ...(injected.size > 0 && { injected: [...injected] }),
    ...(tails.length > 0 && { tails }),
    ...(cached.size > 0 && { cached: cachedAsChanges(cached) }),
    ...(sent !== undefined && { sent: [...sent] }),
    ...(end !== undefined && { end }),
    ...(tools.size > 0 && { tools: [...tools] }),
    ...(keys.size > 0 && { keys: [...keys] }),
    ...(dropsThoughts && { dropsThoughts }),
    ...(isOlder && { older: true }),
  };
}

/** Returns a line of the file, with its line end. */
export function writeLine(line: Line): string {
  if ('recipes' in line) return `${JSON.stringify([`recipes:${line.recipes}`, line.set])}\n`;
  if ('prefix' in line)
    return `${JSON.stringify([`inject:${line.prefix}`, JSON.stringify(line.injected)])}\n`;
  const { id, beginning, atMs, change } = line;
  return `${JSON.stringify({ c: id, b: beginning, t: atMs, ...change })}\n`;
}

/** Parses a line written by `writeLine` or by an older version; undefined for anything else. */
export function readLine(text: string): Line | undefined {
  const value = parseJson(text);
  if (Array.isArray(value)) {
    const [key, kept]: unknown[] = value;
    return typeof key === 'string' && typeof kept === 'string' ? readOlder(key, kept) : undefined;
  }
  if (!isObject(value)) return undefined;
  const { c: id, b: beginning, t: atMs } = value;
  if (typeof id !== 'string' || typeof beginning !== 'string' || typeof atMs !== 'number')
    return undefined;
  const pin = readPin(value['pin']);
  const sent = value['sent'];
  const change: Change = {
    ...(pin !== undefined && { pin }),
    timedOut: textsIn(value['timedOut']),
    leftOut: leftOutIn(value['leftOut']),
    parts: pairsIn(value['parts']).map(([key, isInParts]) => [key, isInParts === true] as const),
    injected: pairsIn(value['injected']).flatMap(([prefix, found]) => {
      const injected = found === null ? null : readInjected(found);
      return injected === undefined ? [] : [[prefix, injected] as const];
    }),
    ...(Array.isArray(value['tails']) && { tails: parseTails(value['tails']) }),
    ...(Array.isArray(value['cached']) && { cached: parseCached(value['cached']) }),
    ...(Array.isArray(sent) && { sent: textPairsIn(sent) }),
    ...(isMark(value['end']) && { end: value['end'] }),
    tools: textPairsIn(value['tools']),
    keys: textPairsIn(value['keys']),
    ...(value['dropsThoughts'] === true && { dropsThoughts: true }),
    ...(value['older'] === true && { older: true }),
  };
  return { id, beginning, atMs, change };
}

/** Parses an older version's pair: a key prefixed with its kind, and a text, mostly JSON. */
function readOlder(key: string, text: string): Line | undefined {
  const [, kind = '', name = ''] = /^(\w+):(.+)$/s.exec(key) ?? [];
  if (kind === 'recipes') return { recipes: name, set: text };
  if (kind === 'inject') {
    const injected = readInjected(parseJson(text));
    return injected && { prefix: name, injected };
  }
  const change = readOlderChange(kind, text);
  return change && { id: name, beginning: name, atMs: 0, change };
}

function readOlderChange(kind: string, text: string): Change | undefined {
  switch (kind) {
    case 'compress': {
      const pin = readPin(parseJson(text));
      return pin && { pin, older: true };
    }
    case 'slow':
      return { timedOut: text.split(' ') };
    case 'forget':
      return { leftOut: leftOutIn(parseJson(text)) };
    case 'long': {
      const parts = parseJson(text);
      if (!isObject(parts)) return undefined;
      return { parts: Object.entries(parts).map(([key, value]) => [key, value === true]) };
    }
    case 'turns':
      return { tails: parseTails(parseJson(text)) };
    default:
      return undefined;
  }
}

function readPin(value: unknown): Pin | undefined {
  if (!isObject(value)) return undefined;
  const { version, mode, maxChars, thresholdTokens, logBudgetTokens } = value;
  const numbers = [version, maxChars, thresholdTokens, logBudgetTokens];
  if (mode !== 'strict' && mode !== 'hybrid' && mode !== 'aggressive') return undefined;
  if (!numbers.every((number) => typeof number === 'number')) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fields that matter are checked
  return value as unknown as Pin;
}

function isMark(value: unknown): value is SentMark {
  return (
    isObject(value) && typeof value['blocks'] === 'number' && typeof value['last'] === 'string'
  );
}

function readInjected(value: unknown): Injected | undefined {
  if (!isObject(value)) return undefined;
  const { text, ids, sources, tokens, atMs, settings } = value;
  if (typeof text !== 'string' || !Array.isArray(ids)) return undefined;
  if (typeof tokens !== 'number' || typeof atMs !== 'number') return undefined;
  if (typeof settings !== 'string') return undefined;
  const read = { text, ids: textsIn(ids), tokens, atMs, settings };
  return Array.isArray(sources) && sources.every(isSource) ? { ...read, sources } : read;
}

function isSource(value: unknown): value is InjectedSource {
  if (!isObject(value)) return false;
  const { id, root, sourcePath } = value;
  return [id, root, sourcePath].every((each) => typeof each === 'string');
}

const textsIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];

function pairsIn(list: unknown): readonly (readonly [string, ...unknown[]])[] {
  if (!Array.isArray(list)) return [];
  return list.filter(
    (each): each is [string, ...unknown[]] => Array.isArray(each) && typeof each[0] === 'string',
  );
}

const leftOutIn = (list: unknown): NonNullable<Change['leftOut']> =>
  pairsIn(list).flatMap(([key, line, tokens]) =>
    typeof line === 'string' && line !== '' && typeof tokens === 'number'
      ? [[key, line, tokens] as const]
      : [],
  );

const textPairsIn = (list: unknown): readonly (readonly [string, string])[] =>
  pairsIn(list).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text] as const] : []));
