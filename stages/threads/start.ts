/**
 * The start of a thread: from the moment it is made until it has loaded its code and got ready
 * for what is expected, and again whenever it has to load more. The time limits of jobs count
 * work, not this.
 */

export class ThreadStart {
  readonly #startTimer: () => () => void;
  /** What is still to be done. */
  #steps = 0;
  #isLoaded = false;
  #stopTimer: (() => void) | undefined;

  /** `startTimer` starts what ends a thread that is not ready for long, and returns what stops it. */
  constructor(startTimer: () => () => void) {
    this.#startTimer = startTimer;
    this.begin();
  }

  /** False until the thread has loaded its own code: it has begun no job. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get isReady(): boolean {
    return this.#steps === 0;
  }

  /** Notes that the thread has one thing more to do before it is ready. */
  begin(): void {
    this.#steps += 1;
    this.#stopTimer ??= this.#startTimer();
  }

  /** Notes that one of them is done. */
  done(): void {
    this.#isLoaded = true;
    this.#steps -= 1;
    if (this.#steps === 0) this.stop();
  }

  /** Ends the wait for it. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
