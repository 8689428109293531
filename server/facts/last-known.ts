/**
 * Facts for paths that must respond at once, such as `/health`: the source may be busy, or a disk
 * may hang, so it is not waited for and the last known value is returned.
 */
import type { Clock } from '../../engine/index.ts';

const MAX_WAIT_MS = 200;

/**
 * Calls `ask` every time, waits at most 200 ms, and resolves with the newest result; `first` until
 * there is one. `ask` receives the last result and must not reject.
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
    const refreshed = ask(known).then((value) => {
      known = value;
    });
    await Promise.race([refreshed, late]);
    stopTimer?.();
    return known;
  };
}
