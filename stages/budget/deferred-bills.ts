/**
 * Which work of providers is not billed yet, and which is: what goes on by itself (background responses,
 * batches, runs) has its figures in every answer that is about it, and is to be paid once.
 */
import { LRUCache } from 'lru-cache';
import { decodedName, pathOf } from '../model/target.ts';
import type { OwnWork } from '../model/usage.ts';

/** Works remembered; a client can begin as many as it likes. */
const MOST_WORKS = 20_000;
/** Works that are asked about at once, the newest first. */
const MOST_ASKED = 500;

/** What limits hold of work that is not billed yet. */
export interface Held {
  readonly nanoUsd: number;
  readonly tokens: number;
  /** Whose it is: the label of the key, and the project. */
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  /** When it was begun, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Proxies that bill works of the same providers. */
export interface BillingPeers {
  /** Tells them what is billed here. */
  billed(ids: readonly string[]): void;
  /** Those that one of them has billed; none where nobody answers. Never rejects. */
  billedOf(ids: readonly string[]): Promise<readonly string[]>;
}

export type DeferredBills = ReturnType<typeof createDeferredBills>;

/** A work by one of its names, with what limits hold of it until it is billed. */
export type KnownWork = readonly [id: string, state: Held | 'billed'];

/** Knows of the works of `earlier`; `onChange` is called whenever there is something new to remember. */
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
    /** From now on bills with others; `onBilled` gets what limits hold here of what another has billed. */
    share(others: BillingPeers, onBilled: (held: Held) => void): void {
      peers = others;
      giveBack = onBilled;
    },
    /** Finds out what others have billed of the works that a request's path may name; undefined where that is known. */
    lookUp(target: string): Promise<void> | undefined {
      if (peers === undefined) return undefined;
      const unknown = namesIn(target).filter((id) => known.get(id) !== 'billed');
      return unknown.length === 0 ? undefined : ask(unknown);
    },
    /** Finds out what others have billed of what limits hold here. */
    async lookUpHeld(): Promise<void> {
      const held = [...known.entries()].filter(([, state]) => state !== 'billed');
      if (held.length > 0) await ask(held.slice(0, MOST_ASKED).map(([id]) => id));
    },
    /** Notes work that its request has begun; `held` is what limits were charged for it. */
    begin({ ids }: OwnWork, held: Held): void {
      for (const id of ids) if (known.get(id) !== 'billed') known.set(id, held);
      onChange();
    },
    /** True once for work that has ended and was begun here, or says of itself that nobody waited for it. */
    isDue({ ids, isFinal, isDeferred }: OwnWork): boolean {
      if (!isFinal) return false;
      const states = ids.map((id) => known.get(id));
      return !states.includes('billed') && (isDeferred === true || states.some(Boolean));
    },
    /** Notes that it is billed; what was held for it comes back, once. */
    bill({ ids, isDeferred }: OwnWork): Held | undefined {
      let held: Held | undefined;
      // An answer that was waited for is never due, so that there is nothing to remember.
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
    /** Tokens that limits hold of what was begun at `sinceMs` or after it. */
    heldTokens(sinceMs: number): number {
      const held = [...known.values()].filter((state) => state !== 'billed');
      return held.reduce((sum, { atMs, tokens }) => sum + (atMs < sinceMs ? 0 : tokens), 0);
    },
    /** All of it, the oldest first. */
    remembered: (): readonly KnownWork[] => [...known.entries()].toReversed(),
  };
}

/** What may be names of works or of their files: each part of the path, and two together (`batches/1`). */
function namesIn(target: string): readonly string[] {
  const parts = pathOf(target).split(/[/:]/).filter(Boolean).map(decodedName);
  return parts.flatMap((part, index) => [part, `${parts[index - 1] ?? ''}/${part}`]);
}
