/**
 * Which turn was the one before, and what it left in the provider's cache. A conversation's name holds its
 * system prompt and its first message, and both may change: turns are found by the client's session, by
 * their first message and by their second, and of those the one counts whose messages this turn repeats.
 * From the second turn of a run on they are kept durably, in the memory of their conversation.
 */
import { LRUCache } from 'lru-cache';
import { HASH_CHARS } from '../model/cached-turn.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { isObject } from '../dialect/json-kind.ts';

/** Names that are looked up by; a run has three. */
const MOST_NAMES = 6_000;
/** Runs of the same name, and of the same conversation on disk. */
const MOST_RUNS = 12;
const MOST_KEPT_RUNS = 4;
/** Earlier turns of a run of which is known what they left. */
const MOST_STEPS = 8;

/** A client may send its next request while ours is still being written down as ended. */
const SLACK_MS = 100;

/** A turn with the run that it is the newest of: the number in the conversation's memory, where it is kept there. */
interface Run {
  readonly turn: CachedTurn;
  readonly id: string;
  readonly kept: number | undefined;
}

/** A turn as it is written down: what is as in the turn before is left out, messages begin as there. */
export type CachedChange = Partial<CachedTurn> & {
  readonly run: number;
  /** Characters of the messages that are as in the turn before. */
  readonly same: number;
  readonly messages: string;
};

/** Where those of one conversation are kept durably. */
export interface CachedStore {
  runs(): ReadonlyMap<number, CachedTurn>;
  set(change: CachedChange): void;
}

type Kept = Iterable<readonly [id: string, runs: ReadonlyMap<number, CachedTurn>]>;

/** `all`: everything that is kept, by conversation; asked for once. */
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
    /**
     * Remembers `turn` of the conversation `id`, and returns the one before; undefined where there was none.
     */
    follow(turn: CachedTurn, id: string, store: CachedStore): CachedTurn | undefined {
      const index = runs();
      const candidates = new Set(namesOf(turn).flatMap((name) => index.get(name) ?? []));
      // What another process has written to the same file stands in the conversation's memory alone.
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

/** The run that `turn` repeats most of; of equals the one to the same key, model and provider, then the newest. */
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

/** Undefined for a turn that is none before `turn`. */
function rankOf(turn: CachedTurn, before: CachedTurn): readonly number[] | undefined {
  // What was not answered yet when this one was sent had left nothing.
  if (before.doneMs > turn.atMs + SLACK_MS) return undefined;
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  const prefix = sharedMessages(turn, before);
  const alike = earlier.filter((entry, at) => isAlike(entry, now[at])).length;
  const isAnswered = now.length > 1;
  const isSameKey = turn.key === before.key;
  // A first request like another one's is no continuation of it.
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

/** How many messages of `before`, from the first on, went out alike. */
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

/** True where `before` need not be remembered any more: whatever goes on from it goes on from `turn` too. */
function continues(turn: CachedTurn, before: CachedTurn): boolean {
  return (
    turn.provider === before.provider &&
    turn.model === before.model &&
    turn.key === before.key &&
    sharedMessages(turn, before) === countOf(before)
  );
}

/** The turn with what earlier ones left of the messages that they have in common. */
function withSteps(turn: CachedTurn, before: CachedTurn): CachedTurn {
  const shared = sharedMessages(turn, before);
  const steps = [...before.steps, [countOf(before), before.left, before.atMs] as const];
  return { ...turn, steps: steps.filter(([count]) => count <= shared).slice(-MOST_STEPS) };
}

/** What is written down of `turn`, after `before` of the same run. */
function changeOf(turn: CachedTurn, before: CachedTurn | undefined, run: number): CachedChange {
  if (before === undefined) return { ...turn, run, same: 0 };
  let same = 0;
  while (same < before.messages.length && before.messages[same] === turn.messages[same]) same += 1;
  const entries = Object.entries(turn).filter(
    ([name, value]) => value !== before[name as keyof CachedTurn],
  );
  return { ...Object.fromEntries(entries), run, same, messages: turn.messages.slice(same) };
}

/** Writes a change into the runs of a conversation, of which the one that rested for longest goes. */
export function applyCached(runs: Map<number, CachedTurn>, change: CachedChange): void {
  const { run, same, messages, ...more } = change;
  const before = runs.get(run);
  const turn = { ...before, ...more, messages: (before?.messages.slice(0, same) ?? '') + messages };
  if (!isCachedTurn(turn)) return;
  runs.delete(run);
  runs.set(run, turn);
  if (runs.size > MOST_KEPT_RUNS) runs.delete(runs.keys().next().value!);
}

/** All runs as changes. */
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

/** Those of a list that are changes; whether they make a turn shows when they are applied. */
export function parseCached(list: unknown): readonly CachedChange[] {
  return Array.isArray(list) ? list.filter(isCachedChange) : [];
}

function isCachedChange(value: unknown): value is CachedChange {
  if (!isObject(value)) return false;
  const { run, same, messages } = value;
  return typeof run === 'number' && typeof same === 'number' && typeof messages === 'string';
}
