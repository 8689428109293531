/**
 * Tracks which deferred work of providers (background responses, batches, runs) was billed: every
 * response about it reports its usage, which must be charged once.
 */
import { LRUCache } from 'lru-cache';
import { decodedName, pathOf } from '../model/target.ts';
import type { OwnWork } from '../model/usage.ts';

/** Maximum number of jobs remembered; clients can start any number. */
const MAX_JOBS = 20_000;
/** Limits the size and not `max`, which would allocate memory for all entries at once. */
const CACHE_OPTIONS = { maxSize: MAX_JOBS, sizeCalculation: () => 1 };
/** Maximum number of jobs in one look-up. */
const MAX_LOOKED_UP = 500;

/** The reservation for a job that is not billed yet. */
export interface JobReservation {
  readonly nanoUsd: number;
  readonly tokens: number;
  /** Owner: key label and project. */
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  /** When it began, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Other proxies that bill jobs of the same providers. */
export interface BillingPeers {
  /** Announces the jobs that were billed here. */
  billed(ids: readonly string[]): void;
  /**
   * Returns the jobs that another proxy has billed; none if there is no response. Never rejects.
   */
  billedOf(ids: readonly string[]): Promise<readonly string[]>;
}

export type DeferredBills = ReturnType<typeof createDeferredBills>;

/** A job by one of its ids, with its reservation until it is billed. */
export type KnownJob = readonly [id: string, state: JobReservation | 'billed'];

/**
 * Creates the state with the jobs of `earlier`; `onChange` is called whenever there is a change to
 * store.
 */
export function createDeferredBills(
  earlier: readonly KnownJob[] = [],
  onChange: () => void = () => undefined,
) {
  const held = new LRUCache<string, JobReservation>(CACHE_OPTIONS);
  const billed = new LRUCache<string, true>(CACHE_OPTIONS);
  for (const [id, state] of earlier)
    if (state === 'billed') billed.set(id, true);
    else held.set(id, state);
  let peers: BillingPeers | undefined;
  let onBilledElsewhere: (held: JobReservation) => void = () => undefined;

  /** Marks jobs as billed; returns their reservations, each once. */
  function settle(ids: readonly string[]): ReadonlySet<JobReservation> {
    const reservations = new Set<JobReservation>();
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
    for (const reserved of settle((await peers?.billedOf(ids)) ?? [])) onBilledElsewhere(reserved);
  }

  return {
    /**
     * Starts sharing bills with other proxies; `onBilled` receives the reservation of a job here
     * that another proxy has billed.
     */
    share(others: BillingPeers, onBilled: (held: JobReservation) => void): void {
      peers = others;
      onBilledElsewhere = onBilled;
    },
    /**
     * Looks up whether another proxy has billed the jobs that a request path may name; undefined if
     * that is already known.
     */
    lookUp(target: string): Promise<void> | undefined {
      if (peers === undefined) return undefined;
      const unknown = jobIdsIn(target).filter((id) => !billed.has(id));
      return unknown.length === 0 ? undefined : ask(unknown);
    },
    /** Looks up which jobs with a reservation other proxies have billed. */
    async lookUpHeld(): Promise<void> {
      if (held.size > 0) await ask([...held.keys()].slice(0, MAX_LOOKED_UP));
    },
    /**
     * Records a job that its request has started; `reserved` is what was charged to limits for it.
     */
    begin({ ids }: OwnWork, reserved: JobReservation): void {
      for (const id of ids) if (!billed.has(id)) held.set(id, reserved);
      onChange();
    },
    /**
     * Returns true once for a job that has ended and either was started here or reports that no
     * request waited for it.
     */
    isDue({ ids, isFinal, isDeferred }: OwnWork): boolean {
      if (!isFinal) return false;
      if (ids.some((id) => billed.has(id))) return false;
      return isDeferred === true || ids.some((id) => held.has(id));
    },
    /** Records that a job is billed; returns its reservation, once. */
    bill({ ids, isDeferred }: OwnWork): JobReservation | undefined {
      // A response that a request waited for is billed with it, so there is nothing to remember.
      if (isDeferred !== true && !ids.some((id) => held.has(id) || billed.has(id)))
        return undefined;
      const [reserved] = settle(ids);
      peers?.billed(ids);
      return reserved;
    },
    /** Returns the tokens reserved for jobs started at or after `sinceMs`. */
    heldTokens(sinceMs: number): number {
      let sum = 0;
      for (const { atMs, tokens } of new Set(held.values())) if (atMs >= sinceMs) sum += tokens;
      return sum;
    },
    /** Returns the whole state, the oldest of each kind first. */
    remembered: (): readonly KnownJob[] => [
      ...[...held.entries()].toReversed(),
      ...[...billed.keys()].toReversed().map((id) => [id, 'billed'] as const),
    ],
  };
}

/**
 * Returns possible ids of jobs or of their files: each part of the path after version and
 * collection, alone and with the part before it (`batches/1`).
 */
function jobIdsIn(target: string): readonly string[] {
  const parts = pathOf(target).split(/[/:]/).filter(Boolean).map(decodedName);
  return parts.slice(2).flatMap((part, index) => [part, `${parts[index + 1]}/${part}`]);
}
