/**
 * Work that waits for the end of the event loop's turn. Sixteen requests that the loop reads in one
 * turn then go through the stages side by side rather than each between two reads: the processor's
 * cache keeps the code of one step for all of them. Under load that halved the cost of a request
 * (`npm run bench`); a single request waits for microseconds.
 */

import type { Clock } from './clock.ts';

/**
 * Collects work and runs it together, in order of arrival. Work that throws does not stop the rest.
 */
export interface WorkQueue {
  /** Calls `work` once everything of this turn of the loop has been read. */
  later(work: () => void): void;
}

/** Work that waits for the end of the turn. */
export interface Turn extends WorkQueue {
  /**
   * Runs `work`, and what follows from it through promises only, before everything that is `later`.
   * For the first chunk to or from a client: queued after the chunks of twenty streams it would
   * wait for a millisecond, which goes unnoticed between two chunks.
   */
  first(work: () => void): void;
}

/** Collected work that can also be run early. */
export interface DeferredWork extends WorkQueue {
  /** Does all pending work now. */
  flush(): void;
}

/** Creates a turn on this process's event loop. */
export function createTurn(): Turn {
  const first = createWorkQueue((run) => setImmediate(run));
  const rest = createWorkQueue((run) => {
    // Work that must come first may be added after this one in the same turn, so its place is
    // reserved now.
    first.later(() => undefined);
    setImmediate(run);
  });
  return { first: (work) => first.later(work), later: (work) => rest.later(work) };
}

/** How long and how much work may wait, and the callback for what it throws. */
export interface DeferredWorkOptions {
  readonly withinMs: number;
  /** Maximum number of pending pieces of work. */
  readonly maxPending: number;
  /** Called with what a piece of work throws; must not throw itself. The result is not awaited. */
  readonly onFault: (thrown: unknown) => void;
}

/**
 * Creates a queue for work that nothing waits for. It runs together `withinMs` after the first
 * piece was added, when `maxPending` are pending, or at `flush`. Pending work keeps its inputs
 * alive, and the garbage collector copies them.
 */
export function createDeferredWork(
  clock: Clock,
  { withinMs, maxPending, onFault }: DeferredWorkOptions,
): DeferredWork {
  return createWorkQueue((run) => clock.after(withinMs, run), maxPending, onFault);
}

function createWorkQueue(
  schedule: (run: () => void) => void,
  maxPending = Infinity,
  onFault?: (thrown: unknown) => void,
): DeferredWork {
  let waiting: (() => void)[] = [];
  let isScheduled = false;

  function runFrom(tasks: readonly (() => void)[], first: number): void {
    for (let index = first; index < tasks.length; index += 1) {
      try {
        tasks[index]!();
      } catch (thrown) {
        if (onFault !== undefined) {
          onFault(thrown);
          continue;
        }
        setImmediate(runFrom, tasks, index + 1);
        throw thrown;
      }
    }
  }

  function flush(): void {
    const tasks = waiting;
    waiting = [];
    runFrom(tasks, 0);
  }

  function onSchedule(): void {
    isScheduled = false;
    flush();
  }

  return {
    later(work) {
      waiting.push(work);
      if (!isScheduled) {
        isScheduled = true;
        schedule(onSchedule);
      }
      if (waiting.length === maxPending) setImmediate(flush);
    },
    flush,
  };
}
