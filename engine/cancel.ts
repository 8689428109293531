/**
 * Cancelling a run. An `AbortSignal` would do, and any is accepted wherever a `CancelSignal` is
 * expected; but creating one and listening to it costs a run more than all its stages together, so
 * runs have their own.
 */

/** The part of `AbortSignal` that the engine and the stages use. */
export interface CancelSignal {
  readonly aborted: boolean;
  /** The argument of `abort`; undefined until then. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Owner of a signal. */
export interface Canceller {
  readonly signal: CancelSignal;
  /** Aborts the signal with `reason`. Only the first call counts. */
  abort(reason: unknown): void;
}

class RunSignal implements CancelSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Creates a canceller for one run. Its listeners are called once, in the order they were added. */
export function createCanceller(): Canceller {
  const signal = new RunSignal();
  return { signal, abort: (reason) => signal.abort(reason) };
}
