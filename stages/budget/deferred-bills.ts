/**
 * Which work of providers is not billed yet, and which is: what goes on by itself (background responses,
 * batches, runs) has its figures in every answer that is about it, and is to be paid once.
 */
import { LRUCache } from 'lru-cache';
import type { OwnWork } from '../model/usage.ts';
import type { Spender } from './owners.ts';

/** Works remembered; a client can begin as many as it likes. */
const MOST_WORKS = 20_000;

/** What limits hold of work that is not billed yet. */
export interface Held {
  readonly nanoUsd: number;
  readonly tokens: number;
  readonly spender: Spender;
  /** When it was begun, in milliseconds since the epoch. */
  readonly atMs: number;
}

export type DeferredBills = ReturnType<typeof createDeferredBills>;

/** Knows of no work yet. */
export function createDeferredBills() {
  const known = new LRUCache<string, Held | 'billed'>({ max: MOST_WORKS });
  return {
    /** Notes work that its request has begun; `held` is what limits were charged for it. */
    begin({ ids }: OwnWork, held: Held): void {
      for (const id of ids) if (known.get(id) !== 'billed') known.set(id, held);
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
      return held;
    },
  };
}
