/**
 * Which work of providers is not billed yet, and which is: what goes on by itself (background responses,
 * batches, runs) has its figures in every answer that is about it, and is to be paid once.
 */
import { LRUCache } from 'lru-cache';
import type { OwnWork } from '../model/usage.ts';

/** Works remembered; a client can begin as many as it likes. */
const MOST_WORKS = 20_000;

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
  return {
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
      onChange();
      return held;
    },
    /** All of it, the oldest first. */
    remembered: (): readonly KnownWork[] => [...known.entries()].toReversed(),
  };
}
