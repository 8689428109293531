/**
 * Ends a response body that was silent for too long. While its reader has paused it, a body may be
 * silent. Nearly every whole answer arrives with its head, so the timer is only started once a body
 * is known to continue.
 */
export class IdleLimit {
  readonly #limitMs: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isPaused = false;
  #isOver = false;

  /** A `limitMs` of 0 disables the limit. */
  constructor(limitMs: number, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
  }

  /** Starts timing now, or when the reader resumes; does nothing once the body has ended. */
  start(): void {
    if (this.#isOver || this.#isPaused || this.#limitMs === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onIdle, this.#limitMs);
  }

  noteData(): void {
    this.#timer?.refresh();
  }

  pause(): void {
    this.#isPaused = true;
    this.#clear();
  }

  resume(): void {
    this.#isPaused = false;
    this.start();
  }

  /** Called when the body has ended, successfully or not. */
  end(): void {
    this.#isOver = true;
    this.#clear();
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
