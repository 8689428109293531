/**
 * Work that waits for the end of the event loop's turn. Sixteen requests that the loop reads
 * in one turn then go through the stages side by side rather than each between two reads:
 * the processor keeps the code of one step for all of them. Under load that halved what a
 * request costs (`npm run bench`); alone, a request waits for microseconds.
 */

import type { Clock } from './clock.ts';

/** Gathers work and does it together, in the order in which it came; one that throws stops none of the others. */
export interface Gathering {
  /** Calls `work` when everything that this turn of the loop brings has been read. */
  later(work: () => void): void;
}

/** Work that waits for the end of the turn. */
export interface Turn extends Gathering {
  /**
   * The same, before all that is `later`, and with what follows from it by promises alone. For
   * the first word to or from somebody: behind the pieces of twenty streams that a turn brings
   * as well, it would wait for a millisecond that nobody notices between two pieces.
   */
  first(work: () => void): void;
}

/** Gathered work that can also be done before its time. */
export interface Afterwards extends Gathering {
  /** Does all that waits, now. */
  flush(): void;
}

/** One turn after another of this process's event loop. */
export function createTurn(): Turn {
  const first = createGathering((run) => setImmediate(run));
  const rest = createGathering((run) => {
    // What comes first may come after this in the turn, so its place is taken now.
    first.later(() => undefined);
    setImmediate(run);
  });
  return { first: (work) => first.later(work), later: (work) => rest.later(work) };
}

/** How long work may wait, how much of it, and who is notified of what it throws. */
export interface AfterwardsOptions {
  readonly withinMs: number;
  /** Pieces of work. */
  readonly atMost: number;
  /** Called with what a piece of work throws; must not throw itself. Nobody waits for its result. */
  readonly onFault: (thrown: unknown) => void;
}

/**
 * Work that nobody waits for: done together `withinMs` after the first of it, when `atMost`
 * wait, or at `flush`. What waits keeps all that it will be made from alive, and the garbage
 * collector copies it.
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
