/**
 * Determines why a turn read less from the provider's cache than the previous turn left in it. This
 * is the one place that decides, by comparing the two requests and their times. Where several
 * things differ, the cause is the first one in reading order that would have sufficed alone; the
 * detail names the others.
 *
 * Documented properties of providers' caches are in `model-facts.ts`; what invalidates them is from
 * platform.claude.com, prompt-caching, "what invalidates the cache", 2026-11.
 */
import {
  HASH_CHARS,
  hashOfEntry,
  countMessages,
  sentOf,
  sharedMessages,
} from '../model/cached-turn.ts';
import type { CacheMiss, CachedTurn, MissCause, NamedMiss } from '../model/cached-turn.ts';
import { LARGEST_MINIMUM, factsOf } from '../model/model-facts.ts';

/**
 * Resolves indexes to names in the current request; hashes alone only show that something differs.
 */
export interface Names {
  /** Name of the tool at an index. */
  readonly tool: (at: number) => string;
  /** Block and character offset of a piece of the system prompt. */
  readonly piece: (at: number) => { readonly block: number; readonly from: number } | undefined;
  /** Index of the first block from `from` on with a marker of the client; -1 for none. */
  readonly marker: (from: number) => number;
}

/** Blocks before a marker in which the provider looks for a cached prefix. */
const LOOKBACK_BLOCKS = 20;
/**
 * A shortfall below both is due to providers' counting: in steps of 128 tokens, and by parts of a
 * block.
 */
const SMALL_TOKENS = 256;
const SMALL_SHARE = 0.01;
const MAX_NAMES = 3;

type Found = readonly [cause: MissCause, detail: string | null];

/**
 * Returns the miss; undefined for a turn that read what the previous one left, or where that is
 * unknown.
 */
export function missOf(
  turn: CachedTurn,
  before: CachedTurn | undefined,
  names: Names,
  named?: NamedMiss,
): CacheMiss | undefined {
  const reportedCause = named && causeNamed(named.reason);
  if (before === undefined) {
    if (named === undefined || reportedCause === undefined) return firstOf(turn);
    const { reason, missedTokens } = named;
    const detail = `the provider says ${reason}`;
    return { cause: reportedCause, detail, missedTokens: missedTokens ?? 0, comparedWith: null };
  }
  const shared = sharedOf(turn, before);
  const missedTokens = missedBy(turn, before, shared);
  if (missedTokens === undefined) return undefined;
  const [ours, detail] = causeOf(turn, before, shared, names);
  const comparedWith = before.request;
  if (named === undefined || reportedCause === undefined)
    return { cause: ours, detail, missedTokens, comparedWith };
  const isSame = reportedCause === ours;
  return {
    cause: reportedCause,
    detail: isSame ? detail : `the provider says ${named.reason}; by our comparison ${ours}`,
    missedTokens: named.missedTokens ?? missedTokens,
    comparedWith,
    ...(!isSame && { ourCause: ours }),
  };
}

/**
 * Handles a first turn, which could not read anything; one that did found another conversation's
 * prefix.
 */
function firstOf({ read, messages }: CachedTurn): CacheMiss | undefined {
  if (read > 0) return undefined;
  const isLate = countMessages({ messages }) > 2;
  const detail = isLate ? 'the conversation was not seen before this request' : null;
  return { cause: 'first_request', detail, missedTokens: 0, comparedWith: null };
}

/** The common part of two turns. */
interface Shared {
  /** Number of leading messages sent alike. */
  readonly prefix: number;
  /** True if these are all messages of the previous turn. */
  readonly isWhole: boolean;
  /**
   * True if the difference after it is a change of the past, and not another continuation of the
   * same beginning.
   */
  readonly isEdit: boolean;
}

function sharedOf(turn: CachedTurn, before: CachedTurn): Shared {
  const prefix = sharedMessages(turn, before);
  if (prefix === countMessages(before)) return { prefix, isWhole: true, isEdit: false };
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  const rest = new Set(earlier.slice(prefix).map(sentOf));
  const isEdit =
    now.length > earlier.length || now.slice(prefix).some((entry) => rest.has(sentOf(entry)));
  return { prefix, isWhole: false, isEdit };
}

/** Returns the cached tokens that were not read; undefined for a hit. */
function missedBy(turn: CachedTurn, before: CachedTurn, shared: Shared): number | undefined {
  const { prefix, isWhole, isEdit } = shared;
  // Another continuation reads the prefix up to where the two diverged.
  const available =
    isWhole || isEdit
      ? before.left
      : Math.max(0, ...before.steps.map(([count, tokens]) => (count <= prefix ? tokens : 0)));
  const short = Math.min(available, turn.total) - turn.read;
  if (available === 0 && turn.read === 0) return isUncached(turn, before) ? 0 : undefined;
  return short > SMALL_TOKENS && short > available * SMALL_SHARE ? short : undefined;
}

/** Returns true if nothing was cached because such requests never are. */
function isUncached(turn: CachedTurn, before: CachedTurn): boolean {
  return isBelowLeast(turn, before) || turn.markers === 'none' || before.markers === 'none';
}

function isBelowLeast(turn: CachedTurn, before: CachedTurn): boolean {
  const min = factsOf(turn.model).minCachedTokens;
  if (min === undefined) return false;
  return turn.total < min || (before.left === 0 && before.total < min);
}

function causeOf(turn: CachedTurn, before: CachedTurn, shared: Shared, names: Names): Found {
  const [first, ...rest] = differences(turn, before, shared, names);
  if (first === undefined) return ['evicted', null];
  const [cause, detail] = first;
  const others = rest.filter(([other]) => other !== cause);
  if (others.length === 0 || cause === 'below_least_length' || cause === 'no_marker') return first;
  const also = `also: ${[...new Set(others.map(([other]) => other))].join(', ')}`;
  return [cause, detail === null ? also : `${detail}; ${also}`];
}

/** Yields all differences, the most significant first. */
function* differences(
  turn: CachedTurn,
  before: CachedTurn,
  shared: Shared,
  names: Names,
): Generator<Found> {
  if (turn.provider !== before.provider)
    yield ['key_or_provider', `${turn.provider} in place of ${before.provider}`];
  if (turn.model !== before.model) yield ['model', `${turn.model} in place of ${before.model}`];
  else if (turn.tier !== before.tier) yield ['model', 'another speed or service tier'];
  if (isBelowLeast(turn, before)) {
    const min = factsOf(turn.model).minCachedTokens ?? LARGEST_MINIMUM;
    yield ['below_least_length', `${turn.model} caches from ${min} tokens on`];
  }
  if (turn.markers === 'none') yield ['no_marker', 'the request carries no cache_control'];
  else if (before.markers === 'none' && before.left === 0)
    yield ['no_marker', 'the request before carried no cache_control'];
  const pauseMs = turn.atMs - before.atMs;
  if (pauseMs > before.lifetimeMs)
    yield [
      'pause',
      `${durationText(pauseMs)}; the cache is kept for ${durationText(before.lifetimeMs)}`,
    ];
  if (turn.tools !== before.tools) yield ['tools', toolsIn(turn.tools, before.tools, names)];
  if (turn.system !== before.system) yield ['system', systemIn(turn.system, before.system, names)];
  else if (turn.format !== before.format) yield ['system', 'another format of the answer'];
  if (turn.thinking !== before.thinking) yield ['thinking', null];
  if (turn.choice !== before.choice) yield ['tool_choice_or_images', 'another tool_choice'];
  else if (turn.images !== before.images)
    yield ['tool_choice_or_images', turn.images ? 'the first image' : 'no image any more'];
  if (shared.isEdit) yield ['message', messageIn(turn, before, shared)];
  const distance = before.blocks === 0 ? 0 : names.marker(before.blocks - 1) - before.blocks + 1;
  if (distance > LOOKBACK_BLOCKS)
    yield [
      'no_marker',
      `the next marker is ${distance} blocks behind what was cached, and the provider looks back ${LOOKBACK_BLOCKS}`,
    ];
  if (turn.key !== before.key) yield ['key_or_provider', 'another key'];
}

/** Describes which message differs from before, and whether the client or svc changed it. */
function messageIn(turn: CachedTurn, before: CachedTurn, { prefix }: Shared): string {
  const now = turn.messages.split(',');
  const earlier = before.messages.split(',');
  const isOurs =
    now[prefix] !== undefined && hashOfEntry(now[prefix]) === hashOfEntry(earlier[prefix]);
  const changedBy = isOurs ? 'svc' : 'the client';
  const removedNote = now.length < earlier.length ? ', which now has fewer messages' : '';
  return `message ${prefix + 1} of ${earlier.length}, by ${changedBy}${removedNote}`;
}

function toolsIn(now: string, earlier: string, { tool }: Names): string {
  const width = 2 * HASH_CHARS;
  const pairs = (all: string) => all.match(new RegExp(`.{${width}}`, 'g')) ?? [];
  const before = new Map(
    pairs(earlier).map((pair) => [pair.slice(0, HASH_CHARS), pair.slice(HASH_CHARS)]),
  );
  const changed: string[] = [];
  const added: string[] = [];
  for (const [at, pair] of pairs(now).entries()) {
    const name = pair.slice(0, HASH_CHARS);
    const definition = before.get(name);
    if (definition === undefined) added.push(tool(at));
    else if (definition !== pair.slice(HASH_CHARS)) changed.push(tool(at));
    before.delete(name);
  }
  const parts = [
    ...(changed.length > 0 ? [`changed: ${listNames(changed)}`] : []),
    ...(added.length > 0 ? [`added: ${listNames(added)}`] : []),
    ...(before.size > 0 ? [`${before.size} removed`] : []),
  ];
  return parts.length === 0 ? 'another order' : parts.join('; ');
}

function listNames(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function systemIn(now: string, earlier: string, { piece }: Names): string {
  let at = 0;
  const hash = (all: string) => all.slice(at * HASH_CHARS, (at + 1) * HASH_CHARS);
  while (hash(now) !== '' && hash(now) === hash(earlier)) at += 1;
  const position = piece(at);
  if (position === undefined) return 'its end was removed';
  return `block ${position.block + 1}, from character ${position.from} on`;
}

function durationText(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

/** Maps a provider's wording of a cause; no entry where it says that nothing was compared. */
const NAMED: readonly (readonly [RegExp, MissCause])[] = [
  [/model|service_tier|speed/, 'model'],
  [/tool_choice|image/, 'tool_choice_or_images'],
  [/tool/, 'tools'],
  [/system|instruction|format/, 'system'],
  [/thinking|reasoning|effort/, 'thinking'],
  [/message(?:s)?_changed|input|prefix|content/, 'message'],
  [/expired|ttl/, 'pause'],
  [/evict/, 'evicted'],
];

function causeNamed(reason: string): MissCause | undefined {
  return NAMED.find(([pattern]) => pattern.test(reason))?.[1];
}
