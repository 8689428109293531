/**
 * Work that waits for the end of the event loop's turn. Sixteen requests that the loop reads
 * in one turn then go through the stages side by side rather than each between two reads:
 * the processor keeps the code of one step for all of them. Under load that halved what a
 * request costs (`npm run bench`); alone, a request waits for microseconds.
 */

import type { Clock } from './clock.ts';

/** Gathers work and does it together, in the order in which it came. */
export interface Turn {
  /** Calls `work` when everything that this turn of the loop brings has been read. */
  later(work: () => void): void;
}

/** Gathered work that can also be done before its time. */
export interface Afterwards extends Turn {
  /** Does all that waits, now. */
  flush(): void;
}

/** Work that waits for the end of the turn. One that throws stops none of the others. */
export function createTurn(): Turn {
  return createGathering((run) => setImmediate(run));
}

/** Work that nobody waits for: done together `withinMs` after the first of it, or at `flush`. */
export function createAfterwards(clock: Clock, withinMs: number): Afterwards {
  return createGathering((run) => clock.after(withinMs, run));
}

function createGathering(schedule: (run: () => void) => void): Afterwards {
  let waiting: (() => void)[] = [];

  function runFrom(works: readonly (() => void)[], first: number): void {
    for (let index = first; index < works.length; index += 1) {
      try {
        works[index]!();
      } catch (thrown) {
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

  return {
    later(work) {
      waiting.push(work);
      if (waiting.length === 1) schedule(flush);
    },
    flush,
  };
}
