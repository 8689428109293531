/** Waits for the client of a run, unless the run is cancelled first. */
import type { CancelSignal } from '../../engine/index.ts';

/**
 * Resolves when `start` calls back, and rejects with the error that it passes, or with the signal's
 * reason when that aborts first.
 */
export function cancellable(
  signal: CancelSignal,
  start: (done: (error?: Error) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    start((error) => {
      signal.removeEventListener('abort', stop);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}
