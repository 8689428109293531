/**
 * What is remembered of one conversation, and how it is written down: one line of JSON for each change,
 * which says what is new. The last word counts for a value, and what is listed adds up, so that lines
 * may be read twice. Lines of older programs, a key and a text each, are read too.
 */
import { isObject, parseJson } from '../dialect/json-kind.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { applyCached, cachedWhole, parseCached } from './cached-turns.ts';
import type { CachedChange } from './cached-turns.ts';
import { parseTails } from './tails.ts';
import type { Tail } from './tails.ts';

/** The settings that a conversation began with, and how far it was sent. */
export interface Pin {
  readonly version: number;
  readonly mode: 'strict' | 'hybrid' | 'aggressive';
  readonly maxChars: number;
  readonly thresholdTokens: number;
  readonly logBudgetTokens: number;
  /** Learned rules and recipes, by their ids. */
  readonly applied?: string;
  readonly recipes?: string;
  /** The macro that a request of it named last, by its id. */
  readonly macro?: string;
  readonly userProse?: boolean;
  readonly longResultsTokens?: number;
  readonly forgets?: boolean;
  readonly tools?: 'off' | 'trim';
  /** Once some of it went out smaller. */
  readonly sent?: SentMark;
  /** Once a client of it had the tool that fetches results whole, oldest first. */
  readonly fetch?: readonly FetchTurn[];
}

/** From a block of a conversation on, counted from 0, `tool` is named where lines are missing; null for none. */
export interface FetchTurn {
  readonly from: number;
  readonly tool: string | null;
}

/** How far a conversation was sent in its last turn. */
export interface SentMark {
  readonly blocks: number;
  /** Tells the last of them from any other block. */
  readonly last: string;
}

/** What goes out in place of a result that was left out at a cold moment. */
export interface LeftOut {
  readonly line: string;
  /** Tokens of what went out before. */
  readonly tokens: number;
}

/** What was added to a question from the user's files. */
export interface Injected {
  readonly text: string;
  readonly ids: readonly string[];
  /** Where the blocks are from; older records do not say it. */
  readonly sources?: readonly InjectedSource[];
  /** The whole text, in the fixed estimator's count. */
  readonly tokens: number;
  /** When it was decided, in wall time, and by which settings. */
  readonly atMs: number;
  readonly settings: string;
}

export interface InjectedSource {
  readonly id: string;
  readonly root: string;
  readonly sourcePath: string;
}

/** Everything that outlives a turn. Every field is what `Change` says of it, put together. */
export interface ConversationRecord {
  readonly id: string;
  /** The same for every caller; see `Original.beginning`. */
  beginning: string;
  atMs: number;
  pin: Pin | undefined;
  /** Blocks that went out as they came because they could not be decided; a mark that ends in `!` is of one that could not be read. */
  readonly timedOut: Set<string>;
  /** Results left out at a cold moment, by `resultKeys`. */
  readonly leftOut: Map<string, LeftOut>;
  /** Long results: true for one that goes out in parts, false for one that was held back. */
  readonly parts: Map<string, boolean>;
  /** By the hash of the conversation up to the question; null for what must not be sent any more. */
  readonly injected: Map<string, Injected | null>;
  /** How far its runs were sent. */
  tails: readonly Tail[];
  /** What the newest turn of each run left in the provider's cache, by numbers of ours. */
  readonly cached: Map<number, CachedTurn>;
  /** What went out for its blocks (`sent-text.ts`); a block that is not in here went out as it came. */
  sent: Map<string, string> | undefined;
  /** How far this caller sent it, where another caller sends the same conversation. */
  end: SentMark | undefined;
  /** True where an older program did not write that down: to compute it gives it. */
  isOlder: boolean;
  /** What went out for its tools, by the hash of those that came. */
  readonly tools: Map<string, string>;
  /** The key that it began with, by provider. */
  readonly keys: Map<string, string>;
  /** True once the provider had to be asked to drop thoughts that no longer match. */
  dropsThoughts: boolean;
}

/** What changes in a record. */
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

/** A line of the file, as it was understood. */
export type Line =
  | {
      readonly id: string;
      readonly beginning: string;
      readonly atMs: number;
      readonly change: Change;
    }
  | { readonly recipes: string; readonly set: string }
  /** An injection of an older program, which did not say in which conversation. */
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

/** Writes `change` into `record`. */
export function apply(record: ConversationRecord, change: Change): void {
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

/** All of a record as one change. */
export function wholeOf(record: ConversationRecord): Change {
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
    ...(cached.size > 0 && { cached: cachedWhole(cached) }),
    ...(sent !== undefined && { sent: [...sent] }),
    ...(end !== undefined && { end }),
    ...(tools.size > 0 && { tools: [...tools] }),
    ...(keys.size > 0 && { keys: [...keys] }),
    ...(dropsThoughts && { dropsThoughts }),
    ...(isOlder && { older: true }),
  };
}

/** A line of the file, with its line end. */
export function writeLine(line: Line): string {
  if ('recipes' in line) return `${JSON.stringify([`recipes:${line.recipes}`, line.set])}\n`;
  if ('prefix' in line)
    return `${JSON.stringify([`inject:${line.prefix}`, JSON.stringify(line.injected)])}\n`;
  const { id, beginning, atMs, change } = line;
  return `${JSON.stringify({ c: id, b: beginning, t: atMs, ...change })}\n`;
}

/** What `writeLine`, or an older program, wrote; undefined for anything else. */
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
    leftOut: pairsIn(value['leftOut']).flatMap(([key, line, tokens]) =>
      typeof line === 'string' && line !== '' && typeof tokens === 'number'
        ? [[key, line, tokens] as const]
        : [],
    ),
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

/** A key with a prefix that says what it is of, and JSON in a text. */
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
      return (
        readLine(JSON.stringify({ c: '', b: '', t: 0, leftOut: parseJson(text) })) as
          | Extract<Line, { change: Change }>
          | undefined
      )?.change;
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what decides was looked at, the rest is as we wrote it
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

const textPairsIn = (list: unknown): readonly (readonly [string, string])[] =>
  pairsIn(list).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text] as const] : []));
