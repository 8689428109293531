/**
 * Finds the turn before a given turn, and what it left in the provider's cache. A conversation's id depends on
 * its system prompt and first message, and both may change. So candidates are looked up by the client's
 * session and by the first and second message, and the one whose messages this turn repeats is taken.
 * From the second turn of a run on, turns are stored durably in their conversation's memory.
 */
import { LRUCache } from 'lru-cache';
import { HASH_CHARS } from '../model/cached-turn.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { isObject } from '../dialect/json-kind.ts';

/** Most lookup names kept; a run has up to three. */
const MOST_NAMES = 6_000;
/** Most runs per name, and most runs per conversation on disk. */
const MOST_RUNS = 12;
const MOST_KEPT_RUNS = 4;
/** Most earlier turns of a run whose cached prefix is remembered. */
const MOST_STEPS = 8;

/** A client may send its next request just before the end of the last one is recorded. */
const SLACK_MS = 100;

/** The newest turn of a run; `kept` is the run's number in the conversation's memory, if stored there. */
interface Run {
  readonly turn: CachedTurn;
  readonly id: string;
  readonly kept: number | undefined;
}

/** A turn as stored: fields equal to the turn before are left out, as is the common start of `messages`. */
export type CachedChange = Partial<CachedTurn> & {
  readonly run: number;
  /** Leading characters of `messages` shared with the turn before. */
  readonly same: number;
  readonly messages: string;
};

/** Durable storage for the turns of one conversation. */
export interface CachedStore {
  runs(): ReadonlyMap<number, CachedTurn>;
  set(change: CachedChange): void;
}

type Kept = Iterable<readonly [id: string, runs: ReadonlyMap<number, CachedTurn>]>;

/** `all` returns all stored runs by conversation; called once, at the first lookup. */
export function createCachedTurns(all: () => Kept) {
  let known: LRUCache<string, readonly Run[]> | undefined;
  const put = (index: LRUCache<string, readonly Run[]>, run: Run, instead?: Run): void => {
    for (const name of instead === undefined ? [] : namesOf(instead.turn))
      index.set(
        name,
        (index.get(name) ?? []).filter((one) => one !== instead),
      );
    for (const name of namesOf(run.turn))
      index.set(name, [run, ...(index.get(name) ?? [])].slice(0, MOST_RUNS));
  };
  const runs = (): LRUCache<string, readonly Run[]> => {
    if (known !== undefined) return known;
    known = new LRUCache({ maxSize: MOST_NAMES, sizeCalculation: () => 1 });
    for (const [id, kept] of all())
      for (const [number, turn] of kept) put(known, { turn, id, kept: number });
    return known;
  };
  return {
    /** Remembers `turn` of the conversation `id`; returns the turn before, undefined if there is none. */
    follow(turn: CachedTurn, id: string, store: CachedStore): CachedTurn | undefined {
      const index = runs();
      const candidates = new Set(namesOf(turn).flatMap((name) => index.get(name) ?? []));
      // Turns that another process wrote to the same file are only in the conversation's memory.
      const seen = new Set(Array.from(candidates, (run) => run.turn.request));
      for (const [number, one] of store.runs())
        if (!seen.has(one.request)) candidates.add({ turn: one, id, kept: number });
      const before = best(turn, [...candidates]);
      const isSameRun = before !== undefined && continues(turn, before.turn);
      const now = before === undefined ? turn : withSteps(turn, before.turn);
      let kept: number | undefined;
      if (before !== undefined) {
        const own = store.runs();
        kept = isSameRun && before.id === id ? before.kept : undefined;
        kept ??= 1 + Math.max(0, ...own.keys());
        store.set(changeOf(now, own.get(kept), kept));
      }
      put(index, { turn: now, id, kept }, isSameRun ? before : undefined);
      return before?.turn;
    },
  };
}

function namesOf({ session, messages }: CachedTurn): readonly string[] {
  const [first = '', second] = messages.split(',', 2);
  return [
    `f${first.slice(0, HASH_CHARS)}`,
    ...(second === undefined ? [] : [`a${second.slice(0, HASH_CHARS)}`]),
    ...(session === '' ? [] : [`s${session}`]),
  ];
}

/** Returns the run that `turn` repeats most of; ties go to the same key, model and provider, then to the newest. */
function best(turn: CachedTurn, candidates: readonly Run[]): Run | undefined {
  let found: Run | undefined;
  let most: readonly number[] = [];
  for (const run of candidates) {
    const rank = rankOf(turn, run.turn);
    if (rank === undefined || !isMore(rank, most)) continue;
    found = run;
    most = rank;
  }
  return found;
}

function isMore(rank: readonly number[], than: readonly number[]): boolean {
  const at = rank.findIndex((figure, place) => figure !== than[place]);
  return at >= 0 && rank[at]! > (than[at] ?? -1);
}

/** Ranks `before` as the predecessor of `turn`, to be compared in order; undefined if it cannot be one. */
function rankOf(turn: CachedTurn, before: CachedTurn): readonly number[] | undefined {
  // A turn not yet answered when this one was sent had left nothing in the cache.
  if (before.doneMs > turn.atMs + SLACK_MS) return undefined;
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  const prefix = sharedMessages(turn, before);
  const alike = earlier.filter((entry, at) => isAlike(entry, now[at])).length;
  const isAnswered = now.length > 1;
  const isSameKey = turn.key === before.key;
  // With a different key, a similar first request alone does not make a continuation.
  if (!isSameKey && (!isAnswered || alike < earlier.length / 2)) return undefined;
  const isRewritten =
    isAnswered &&
    turn.session !== '' &&
    turn.session === before.session &&
    turn.system === before.system &&
    turn.tools === before.tools;
  if (alike === 0 && !isRewritten) return undefined;
  const same = [isSameKey, turn.model === before.model, turn.provider === before.provider];
  return [Math.max(prefix, alike), prefix, same.filter(Boolean).length, before.atMs];
}

/** Counts the leading messages of `before` that `turn` repeats. */
function sharedMessages(turn: CachedTurn, before: CachedTurn): number {
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  const end = earlier.findIndex((entry, at) => !isAlike(entry, now[at]));
  return end < 0 ? earlier.length : end;
}

const countOf = ({ messages }: CachedTurn): number => messages.split(',').length;

function isAlike(entry: string, other: string | undefined): boolean {
  return entry.slice(0, HASH_CHARS) === other?.slice(0, HASH_CHARS);
}

/** Returns true if `before` can be forgotten: whatever continues it continues `turn` too. */
function continues(turn: CachedTurn, before: CachedTurn): boolean {
  return (
    turn.provider === before.provider &&
    turn.model === before.model &&
    turn.key === before.key &&
    sharedMessages(turn, before) === countOf(before)
  );
}

/** Returns `turn` with the steps of earlier turns that lie within the messages shared with `before`. */
function withSteps(turn: CachedTurn, before: CachedTurn): CachedTurn {
  const shared = sharedMessages(turn, before);
  const steps = [...before.steps, [countOf(before), before.left, before.atMs] as const];
  return { ...turn, steps: steps.filter(([count]) => count <= shared).slice(-MOST_STEPS) };
}

/** Returns what to store of `turn` if `before` of the same run is stored already. */
function changeOf(turn: CachedTurn, before: CachedTurn | undefined, run: number): CachedChange {
  if (before === undefined) return { ...turn, run, same: 0 };
  let same = 0;
  while (same < before.messages.length && before.messages[same] === turn.messages[same]) same += 1;
  const entries = Object.entries(turn).filter(
    ([name, value]) => value !== before[name as keyof CachedTurn],
  );
  return { ...Object.fromEntries(entries), run, same, messages: turn.messages.slice(same) };
}

/** Applies a change to the runs of a conversation; the least recently changed run makes room. */
export function applyCached(runs: Map<number, CachedTurn>, change: CachedChange): void {
  const { run, same, messages, ...more } = change;
  const before = runs.get(run);
  const turn = { ...before, ...more, messages: (before?.messages.slice(0, same) ?? '') + messages };
  if (!isCachedTurn(turn)) return;
  runs.delete(run);
  runs.set(run, turn);
  if (runs.size > MOST_KEPT_RUNS) runs.delete(runs.keys().next().value!);
}

/** Returns all runs as changes. */
export function cachedWhole(runs: ReadonlyMap<number, CachedTurn>): readonly CachedChange[] {
  return [...runs].map(([run, turn]) => ({ ...turn, run, same: 0 }));
}

const TEXTS = ['request', 'provider', 'model', 'key', 'session', 'markers', 'tier'] as const;
const HASHES = ['thinking', 'choice', 'format', 'tools', 'system', 'messages'] as const;
const FIGURES = ['atMs', 'doneMs', 'lifetimeMs', 'total', 'left', 'read', 'blocks'] as const;

function isCachedTurn(value: {
  readonly [name: string]: unknown;
}): value is CachedTurn & typeof value {
  return (
    [...TEXTS, ...HASHES].every((name) => typeof value[name] === 'string') &&
    FIGURES.every((name) => typeof value[name] === 'number') &&
    Array.isArray(value['steps'])
  );
}

/** Returns the changes in a parsed list; whether they form a complete turn is checked when they are applied. */
export function parseCached(list: unknown): readonly CachedChange[] {
  return Array.isArray(list) ? list.filter(isCachedChange) : [];
}

function isCachedChange(value: unknown): value is CachedChange {
  if (!isObject(value)) return false;
  const { run, same, messages } = value;
  return typeof run === 'number' && typeof same === 'number' && typeof messages === 'string';
}
