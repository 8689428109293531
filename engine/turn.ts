/**
 * Work that waits for the end of the event loop's turn. Sixteen requests that the loop reads in one
 * turn then go through the stages side by side rather than each between two reads: the processor's
 * cache keeps the code of one step for all of them. Under load that halved the cost of a request
 * (`npm run bench`); a single request waits for microseconds.
 */

import type { Clock } from './clock.ts';

/**
 * Gathers work and runs it together, in order of arrival; one that throws does not stop the others.
 */
export interface Gathering {
  /** Calls `work` once everything of this turn of the loop has been read. */
  later(work: () => void): void;
}

/** Work that waits for the end of the turn. */
export interface Turn extends Gathering {
  /**
   * Runs `work`, and what follows from it through promises only, before everything that is `later`.
   * For the first chunk to or from a client: queued after the chunks of twenty streams it would
   * wait for a millisecond, which goes unnoticed between two chunks.
   */
  first(work: () => void): void;
}

/** Gathered work that can also be done early. */
export interface Afterwards extends Gathering {
  /** Does all pending work now. */
  flush(): void;
}

/** Creates a turn on this process's event loop. */
export function createTurn(): Turn {
  const first = createGathering((run) => setImmediate(run));
  const rest = createGathering((run) => {
    // Work that must come first may be added after this one in the same turn, so its place is
    // reserved now.
    first.later(() => undefined);
    setImmediate(run);
  });
  return { first: (work) => first.later(work), later: (work) => rest.later(work) };
}

/** How long and how much work may wait, and the callback for what it throws. */
export interface AfterwardsOptions {
  readonly withinMs: number;
  /** Maximum number of pending pieces of work. */
  readonly atMost: number;
  /** Called with what a piece of work throws; must not throw itself. The result is not awaited. */
  readonly onFault: (thrown: unknown) => void;
}

/**
 * Creates a queue for work that nothing waits for: done together `withinMs` after the first of it,
 * when `atMost` are pending, or at `flush`. Pending work keeps its inputs alive, and the garbage
 * collector copies them.
 */
export function createAfterwards(
  clock: Clock,
  { withinMs, atMost, onFault }: AfterwardsOptions,
): Afterwards {
  return createGathering((run) => clock.after(withinMs, run), atMost, onFault);
}

function createGathering(
  schedule: (run: () => void) => void,
  atMost = Infinity,
  onFault?: (thrown: unknown) => void,
): Afterwards {
  let waiting: (() => void)[] = [];
  let isScheduled = false;

  function runFrom(works: readonly (() => void)[], first: number): void {
    for (let index = first; index < works.length; index += 1) {
      try {
        works[index]!();
      } catch (thrown) {
        if (onFault !== undefined) {
          onFault(thrown);
          continue;
        }
        setImmediate(runFrom, works, index + 1);
        throw thrown;
      }
    }
  }

  function flush(): void {
    const works = waiting;
    waiting = [];
    runFrom(works, 0);
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
      if (waiting.length === atMost) setImmediate(flush);
    },
    flush,
  };
}
