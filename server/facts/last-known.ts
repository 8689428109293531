/**
 * Facts for what must answer at once, such as `/health`: whoever is asked for them may be busy, or
 * a disk may hang, and is not waited for. What was known last is given again then.
 */
import type { Clock } from '../../engine/index.ts';

const MAX_WAIT_MS = 200;

/**
 * Asks at every call, waits for at most 200 ms, and resolves with the newest answer; `first` until
 * there is one. `ask` gets what is known and must not reject.
 */
export function lastKnown<T>(
  clock: Clock,
  first: T,
  ask: (known: T) => Promise<T>,
): () => Promise<T> {
  let known = first;
  return async () => {
    let stopTimer: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      stopTimer = clock.after(MAX_WAIT_MS, resolve);
    });
    const asked = ask(known).then((value) => {
      known = value;
    });
    await Promise.race([asked, late]);
    stopTimer?.();
    return known;
  };
}
