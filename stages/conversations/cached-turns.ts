/**
 * Finds the turn before a given turn, and what it left in the provider's cache. A conversation's id
 * depends on its system prompt and first message, and both may change. So candidates are looked up
 * by the client's session and by the first and second message, and the one whose messages this turn
 * repeats is taken. From the second turn of a run on, turns are stored durably in their
 * conversation's memory.
 */
import { LRUCache } from 'lru-cache';
import { countMessages, sentOf, sharedMessages } from '../model/cached-turn.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { isObject } from '../dialect/json-kind.ts';

/** Maximum number of lookup names kept; a run has up to three. */
const MAX_NAMES = 6_000;
/** Maximum number of runs per name, and of runs per conversation on disk. */
const MAX_RUNS = 12;
const MAX_STORED_RUNS = 4;
/** Maximum number of earlier turns of a run whose cached prefix is remembered. */
const MAX_STEPS = 8;

/** A client may send its next request slightly before the end of the previous one is recorded. */
const SLACK_MS = 100;

/**
 * The newest turn of a run; `kept` is the run's number in the conversation's memory if it is stored
 * there.
 */
interface Run {
  readonly turn: CachedTurn;
  readonly id: string;
  readonly kept: number | undefined;
  readonly names: readonly string[];
}

/**
 * A turn as stored: fields equal to the turn before are left out, as is the common start of
 * `messages`.
 */
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

type StoredRuns = Iterable<readonly [id: string, runs: ReadonlyMap<number, CachedTurn>]>;

/** `all` returns all stored runs by conversation; called once, at the first lookup. */
export function createCachedTurns(all: () => StoredRuns) {
  let known: LRUCache<string, readonly Run[]> | undefined;
  const put = (index: LRUCache<string, readonly Run[]>, run: Run, instead?: Run): void => {
    for (const name of run.names) {
      const others = (index.get(name) ?? []).filter((one) => one !== instead);
      index.set(name, [run, ...others].slice(0, MAX_RUNS));
    }
    for (const name of instead?.names ?? []) {
      if (run.names.includes(name)) continue;
      const others = (index.get(name) ?? []).filter((one) => one !== instead);
      index.set(name, others);
    }
  };
  const runs = (): LRUCache<string, readonly Run[]> => {
    if (known !== undefined) return known;
    known = new LRUCache({ maxSize: MAX_NAMES, sizeCalculation: () => 1 });
    for (const [id, kept] of all())
      for (const [number, turn] of kept)
        put(known, { turn, id, kept: number, names: namesOf(turn) });
    return known;
  };
  return {
    /**
     * Remembers `turn` of the conversation `id`; returns the turn before, undefined if there is
     * none.
     */
    follow(turn: CachedTurn, id: string, store: CachedStore): CachedTurn | undefined {
      const index = runs();
      const names = namesOf(turn);
      const candidates = new Set(names.flatMap((name) => index.get(name) ?? []));
      const own = store.runs();
      // Turns that another process wrote to the same file are only in the conversation's memory.
      if (own.size > 0) {
        const seen = new Set(Array.from(candidates, (run) => run.turn.request));
        for (const [number, one] of own)
          if (!seen.has(one.request))
            candidates.add({ turn: one, id, kept: number, names: namesOf(one) });
      }
      const found = bestPredecessor(turn, candidates);
      if (found === undefined) {
        put(index, { turn, id, kept: undefined, names });
        return undefined;
      }
      const { run: before, shared } = found;
      const count = countMessages(before.turn);
      const isSameRun = shared === count && isSameCache(turn, before.turn);
      const now = { ...turn, steps: stepsAfter(before.turn, count, shared) };
      let kept = isSameRun && before.id === id ? before.kept : undefined;
      // A first request is not stored: most are never continued, and a repeated one has nothing to
      // continue.
      if (kept !== undefined || turn.messages.includes(',')) {
        kept ??= 1 + Math.max(0, ...own.keys());
        store.set(changeOf(now, own.get(kept), kept));
      }
      put(index, { turn: now, id, kept, names }, isSameRun ? before : undefined);
      return before.turn;
    },
  };
}

function namesOf({ session, messages }: CachedTurn): readonly string[] {
  const [first = '', second] = messages.split(',', 2);
  return [
    `f${sentOf(first)}`,
    ...(second === undefined ? [] : [`a${sentOf(second)}`]),
    ...(session === '' ? [] : [`s${session}`]),
  ];
}

/**
 * An earlier run as a possible predecessor of a turn; predecessors are compared by these figures,
 * in this order.
 */
interface Predecessor {
  readonly run: Run;
  /** Messages repeated at the same index, and how many of them are at the start. */
  readonly equalMessages: number;
  readonly shared: number;
  /** How many of key, model and provider are the same. */
  readonly equalOrigins: number;
}

/**
 * Returns the run that `turn` repeats most of; ties go to the same key, model and provider, then to
 * the newest.
 */
function bestPredecessor(turn: CachedTurn, candidates: Iterable<Run>): Predecessor | undefined {
  let longest: Predecessor | undefined;
  for (const run of candidates) {
    const found = asPredecessor(turn, run);
    if (found !== undefined && (longest === undefined || isBetter(found, longest))) longest = found;
  }
  return longest;
}

function isBetter(found: Predecessor, than: Predecessor): boolean {
  if (found.equalMessages !== than.equalMessages) return found.equalMessages > than.equalMessages;
  if (found.shared !== than.shared) return found.shared > than.shared;
  if (found.equalOrigins !== than.equalOrigins) return found.equalOrigins > than.equalOrigins;
  return found.run.turn.atMs > than.run.turn.atMs;
}

/** Returns `run` compared with `turn`; undefined if it cannot be the one before. */
function asPredecessor(turn: CachedTurn, run: Run): Predecessor | undefined {
  const before = run.turn;
  // A turn not yet answered when this one was sent had left nothing in the cache.
  if (before.doneMs > turn.atMs + SLACK_MS) return undefined;
  const shared = sharedMessages(turn, before);
  const count = countMessages(before);
  const equalMessages = shared === count ? count : countEqualMessages(turn, before);
  const isAnswered = turn.messages.includes(',');
  const isSameKey = turn.key === before.key;
  // With a different key, a similar first request alone does not make a continuation.
  if (!isSameKey && (!isAnswered || equalMessages < count / 2)) return undefined;
  const isRewritten =
    isAnswered &&
    turn.session !== '' &&
    turn.session === before.session &&
    turn.system === before.system &&
    turn.tools === before.tools;
  if (equalMessages === 0 && !isRewritten) return undefined;
  const equalOrigins =
    Number(isSameKey) +
    Number(turn.model === before.model) +
    Number(turn.provider === before.provider);
  return { run, equalMessages: Math.max(shared, equalMessages), shared, equalOrigins };
}

/** Counts the messages of `before` that `turn` repeats at the same index. */
function countEqualMessages(turn: CachedTurn, before: CachedTurn): number {
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  return earlier.filter((entry, at) => sentOf(entry) === sentOf(now[at])).length;
}

/**
 * Returns true if both use the same cache; `before` can then be forgotten if all of it is repeated.
 */
function isSameCache(turn: CachedTurn, before: CachedTurn): boolean {
  return (
    turn.provider === before.provider && turn.model === before.model && turn.key === before.key
  );
}

/**
 * Returns the steps of earlier turns that lie within the first `shared` messages; `before` has
 * `count` messages.
 */
function stepsAfter(before: CachedTurn, count: number, shared: number): CachedTurn['steps'] {
  const steps = [...before.steps, [count, before.left, before.atMs] as const];
  return steps.filter(([messages]) => messages <= shared).slice(-MAX_STEPS);
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
  if (runs.size > MAX_STORED_RUNS) runs.delete(runs.keys().next().value!);
}

/** Returns all runs as changes. */
export function cachedAsChanges(runs: ReadonlyMap<number, CachedTurn>): readonly CachedChange[] {
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

/**
 * Returns the changes in a parsed list; whether they form a complete turn is checked when they are
 * applied.
 */
export function parseCached(list: unknown): readonly CachedChange[] {
  return Array.isArray(list) ? list.filter(isCachedChange) : [];
}

function isCachedChange(value: unknown): value is CachedChange {
  if (!isObject(value)) return false;
  const { run, same, messages } = value;
  return typeof run === 'number' && typeof same === 'number' && typeof messages === 'string';
}
