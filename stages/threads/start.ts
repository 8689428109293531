/**
 * The start of a thread: from its creation until it has loaded its code and prepared for expected
 * jobs, and again whenever it has to load more. Time limits of jobs do not include it.
 */

export class ThreadStart {
  readonly #startTimer: () => () => void;
  /** Number of pending steps. */
  #steps = 0;
  #isLoaded = false;
  #stopTimer: (() => void) | undefined;

  /**
   * `startTimer` starts the timer that ends a thread which is not ready in time, and returns its
   * stop function.
   */
  constructor(startTimer: () => () => void) {
    this.#startTimer = startTimer;
    this.begin();
  }

  /** False until the thread has loaded its own code; before that it has begun no job. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get isReady(): boolean {
    return this.#steps === 0;
  }

  /** Adds a step to do before the thread is ready. */
  begin(): void {
    this.#steps += 1;
    this.#stopTimer ??= this.#startTimer();
  }

  /** Completes a step. */
  done(): void {
    this.#isLoaded = true;
    this.#steps -= 1;
    if (this.#steps === 0) this.stop();
  }

  /** Stops the timer. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
