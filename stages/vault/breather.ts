/** Splits long work into small steps, so that the event loop stays free for requests. */

/** Maximum time that a step may block the event loop, in milliseconds. */
const STEP_MS = 6;

/**
 * Returns a function to call between two pieces of work. It returns undefined while the step still
 * has time, and a promise to await once the event loop should get a turn.
 */
export function createBreather(): () => Promise<void> | undefined {
  let startedMs = performance.now();
  return () => {
    if (performance.now() - startedMs < STEP_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        startedMs = performance.now();
        resolve();
      });
    });
  };
}
