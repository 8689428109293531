/**
 * Ends a response body in which nothing was heard for too long. A body that its reader has
 * paused may be silent for as long as that lasts. Nearly every whole answer arrives with its
 * head, so the timer is made only once a body is known to go on.
 */
export class IdleLimit {
  readonly #limitMs: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isPaused = false;
  #isOver = false;

  /** `limitMs` 0 allows any silence. */
  constructor(limitMs: number, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
  }

  /** Listens from now on, or once the reader goes on; does nothing once the body has ended. */
  start(): void {
    if (this.#isOver || this.#isPaused || this.#limitMs === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onIdle, this.#limitMs);
  }

  heard(): void {
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

  /** The body has ended, well or not. */
  end(): void {
    this.#isOver = true;
    this.#clear();
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
