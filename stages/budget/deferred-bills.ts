/**
 * Which deferred work of providers (background responses, batches, runs) is billed: its figures
 * come with every answer about it, and must be paid once.
 */
import { LRUCache } from 'lru-cache';
import { decodedName, pathOf } from '../model/target.ts';
import type { OwnWork } from '../model/usage.ts';

/** Maximum number of works remembered; a client can start any number. */
const MOST_WORKS = 20_000;
/** Works looked up at once, the newest first. */
const MOST_ASKED = 500;

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
  const known = new LRUCache<string, Held | 'billed'>({ max: MOST_WORKS });
  for (const [id, state] of earlier) known.set(id, state);
  let peers: BillingPeers | undefined;
  let giveBack: (held: Held) => void = () => undefined;

  async function ask(ids: readonly string[]): Promise<void> {
    const billed = (await peers?.billedOf(ids)) ?? [];
    for (const id of billed) {
      const state = known.get(id);
      known.set(id, 'billed');
      if (state !== undefined && state !== 'billed') giveBack(state);
    }
    if (billed.length > 0) onChange();
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
      const unknown = namesIn(target).filter((id) => known.get(id) !== 'billed');
      return unknown.length === 0 ? undefined : ask(unknown);
    },
    /** Looks up which of the reserved works others have billed. */
    async lookUpHeld(): Promise<void> {
      const held = [...known.entries()].filter(([, state]) => state !== 'billed');
      if (held.length > 0) await ask(held.slice(0, MOST_ASKED).map(([id]) => id));
    },
    /** Records work started by its request; `held` is what was charged to limits for it. */
    begin({ ids }: OwnWork, held: Held): void {
      for (const id of ids) if (known.get(id) !== 'billed') known.set(id, held);
      onChange();
    },
    /**
     * Returns true once for work that has ended and either was started here or reports that no
     * request waited for it.
     */
    isDue({ ids, isFinal, isDeferred }: OwnWork): boolean {
      if (!isFinal) return false;
      const states = ids.map((id) => known.get(id));
      return !states.includes('billed') && (isDeferred === true || states.some(Boolean));
    },
    /** Records that it is billed; returns its reservation, once. */
    bill({ ids, isDeferred }: OwnWork): Held | undefined {
      let held: Held | undefined;
      // An answer that was waited for is never due, so there is nothing to remember.
      if (isDeferred !== true && !ids.some((id) => known.has(id))) return undefined;
      for (const id of ids) {
        const state = known.get(id);
        if (state !== 'billed') held ??= state;
        known.set(id, 'billed');
      }
      peers?.billed(ids);
      onChange();
      return held;
    },
    /** Returns the tokens that limits reserve for works started at or after `sinceMs`. */
    heldTokens(sinceMs: number): number {
      const held = [...known.values()].filter((state) => state !== 'billed');
      return held.reduce((sum, { atMs, tokens }) => sum + (atMs < sinceMs ? 0 : tokens), 0);
    },
    /** Returns all of it, the oldest first. */
    remembered: (): readonly KnownWork[] => [...known.entries()].toReversed(),
  };
}

/**
 * Returns possible ids of works or of their files: each part of the path, and each pair of adjacent
 * parts (`batches/1`).
 */
function namesIn(target: string): readonly string[] {
  const parts = pathOf(target).split(/[/:]/).filter(Boolean).map(decodedName);
  return parts.flatMap((part, index) => [part, `${parts[index - 1] ?? ''}/${part}`]);
}
