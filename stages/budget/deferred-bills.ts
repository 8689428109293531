/**
 * Which deferred work of providers (background responses, batches, runs) is billed: its figures
 * come with every answer about it, and must be paid once.
 */
import { LRUCache } from 'lru-cache';
import { decodedName, pathOf } from '../model/target.ts';
import type { OwnWork } from '../model/usage.ts';

/** Maximum number of works remembered; a client can start any number. */
const MAX_WORKS = 20_000;
/** Bounds by size: with `max`, room for all is allocated at once. */
const BOUND = { maxSize: MAX_WORKS, sizeCalculation: () => 1 };
/** Works looked up at once, the newest first. */
const MAX_ASKED = 500;

/** What limits reserve for work that is not billed yet. */
export interface Held {
  readonly nanoUsd: number;
  readonly tokens: number;
  /** Owner: key label and project. */
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  /** When it began, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Proxies that bill works of the same providers. */
export interface BillingPeers {
  /** Tells them what is billed here. */
  billed(ids: readonly string[]): void;
  /**
   * Returns the ones that another proxy has billed; none if there is no response. Never rejects.
   */
  billedOf(ids: readonly string[]): Promise<readonly string[]>;
}

export type DeferredBills = ReturnType<typeof createDeferredBills>;

/** A work by one of its ids, with what limits reserve for it until it is billed. */
export type KnownWork = readonly [id: string, state: Held | 'billed'];

/**
 * Creates the state with the works of `earlier`; `onChange` is called whenever there is a change to
 * store.
 */
export function createDeferredBills(
  earlier: readonly KnownWork[] = [],
  onChange: () => void = () => undefined,
) {
  const held = new LRUCache<string, Held>(BOUND);
  const billed = new LRUCache<string, true>(BOUND);
  for (const [id, state] of earlier)
    if (state === 'billed') billed.set(id, true);
    else held.set(id, state);
  let peers: BillingPeers | undefined;
  let giveBack: (held: Held) => void = () => undefined;

  /** Marks works as billed; returns what limits reserved for them, each reservation once. */
  function settle(ids: readonly string[]): ReadonlySet<Held> {
    const reservations = new Set<Held>();
    for (const id of ids) {
      const reserved = held.get(id);
      if (reserved !== undefined) reservations.add(reserved);
      held.delete(id);
      billed.set(id, true);
    }
    if (ids.length > 0) onChange();
    return reservations;
  }

  async function ask(ids: readonly string[]): Promise<void> {
    for (const reserved of settle((await peers?.billedOf(ids)) ?? [])) giveBack(reserved);
  }

  return {
    /**
     * From now on bills together with others; `onBilled` receives what limits reserve here for work
     * that another proxy has billed.
     */
    share(others: BillingPeers, onBilled: (held: Held) => void): void {
      peers = others;
      giveBack = onBilled;
    },
    /**
     * Looks up which works that a request's path may name were billed by others; undefined if
     * already known.
     */
    lookUp(target: string): Promise<void> | undefined {
      if (peers === undefined) return undefined;
      const unknown = namesIn(target).filter((id) => !billed.has(id));
      return unknown.length === 0 ? undefined : ask(unknown);
    },
    /** Looks up which of the reserved works others have billed. */
    async lookUpHeld(): Promise<void> {
      if (held.size > 0) await ask([...held.keys()].slice(0, MAX_ASKED));
    },
    /** Records work started by its request; `reserved` is what was charged to limits for it. */
    begin({ ids }: OwnWork, reserved: Held): void {
      for (const id of ids) if (!billed.has(id)) held.set(id, reserved);
      onChange();
    },
    /**
     * Returns true once for work that has ended and either was started here or reports that no
     * request waited for it.
     */
    isDue({ ids, isFinal, isDeferred }: OwnWork): boolean {
      if (!isFinal) return false;
      if (ids.some((id) => billed.has(id))) return false;
      return isDeferred === true || ids.some((id) => held.has(id));
    },
    /** Records that it is billed; returns its reservation, once. */
    bill({ ids, isDeferred }: OwnWork): Held | undefined {
      // An answer that was waited for is never due, so there is nothing to remember.
      if (isDeferred !== true && !ids.some((id) => held.has(id) || billed.has(id)))
        return undefined;
      const [reserved] = settle(ids);
      peers?.billed(ids);
      return reserved;
    },
    /** Returns the tokens that limits reserve for works started at or after `sinceMs`. */
    heldTokens(sinceMs: number): number {
      let sum = 0;
      for (const { atMs, tokens } of new Set(held.values())) if (atMs >= sinceMs) sum += tokens;
      return sum;
    },
    /** Returns all of it, of each kind the oldest first. */
    remembered: (): readonly KnownWork[] => [
      ...[...held.entries()].toReversed(),
      ...[...billed.keys()].toReversed().map((id) => [id, 'billed'] as const),
    ],
  };
}

/**
 * Returns possible ids of works or of their files: each part of the path after version and
 * collection, alone and with the part before it (`batches/1`).
 */
function namesIn(target: string): readonly string[] {
  const parts = pathOf(target).split(/[/:]/).filter(Boolean).map(decodedName);
  return parts.slice(2).flatMap((part, index) => [part, `${parts[index + 1]}/${part}`]);
}
