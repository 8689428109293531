/**
 * Reads the spending from before this process started. Until it is known, a limit that looks back
 * cannot be checked, so requests that need it wait for the read, and are refused if it fails.
 */
import type { Clock } from '../../engine/index.ts';
import { toSvcError } from '../../engine/index.ts';
import type { OwnerSpending } from './owners.ts';
import type { SvcError } from '../../engine/index.ts';
import { spendingUnknown } from '../model/errors.ts';

/** Costs in nano-dollars. */
export interface EarlierSpending {
  /** In the UTC day that began at `dayMs`. */
  readonly dayMs: number;
  readonly costNanoUsd: number;
  readonly tokens: number;
  /** Of keys and projects in that day and its month, and of the proxy in the month. */
  readonly owners: readonly OwnerSpending[];
  readonly sessions: readonly { readonly session: string; readonly costNanoUsd: number }[];
}

/** Reads all earlier spending, or rejects without having counted anything. */
export type ReadEarlierSpending = () => Promise<EarlierSpending>;

export type Recall = ReturnType<typeof createRecall>;

/** How long a failure is cached for all callers. */
const RETRY_MS = 1000;

/** Creates a lazy reader. `count` is called with the result, once. */
export function createRecall(
  read: ReadEarlierSpending,
  count: (spent: EarlierSpending) => void,
  clock: Clock,
) {
  let reading: Promise<void> | undefined;
  let isKnown = false;
  let failure: SvcError | undefined;
  let failedMs = 0;

  async function readOnce(): Promise<void> {
    try {
      count(await read());
      isKnown = true;
      failure = undefined;
    } catch (thrown) {
      failure = toSvcError(thrown);
      failedMs = clock.monotonicMs();
      throw spendingUnknown(failure);
    }
  }

  return {
    /** Why the last read failed; undefined if none has. */
    get failure(): SvcError | undefined {
      return failure;
    },
    /**
     * Returns undefined once the spending is known, before that a promise that resolves when it is.
     * Rejects with `unavailable` if it cannot be read, which is retried at most once a second.
     */
    pending(): Promise<void> | undefined {
      if (isKnown) return undefined;
      const isStale = failure !== undefined && clock.monotonicMs() >= failedMs + RETRY_MS;
      if (isStale) reading = undefined;
      reading ??= readOnce();
      return reading;
    },
  };
}
