/**
 * Shared memory limit (`advanced.max_bytes_in_flight`) and minimum rate for bodies and messages
 * that have not arrived in full. Each body also has a size limit of its own, but a client that
 * opens many and finishes none could otherwise fill memory.
 */
import type { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { malformedRequest, overloaded } from '../../stages/model/errors.ts';

/** Interval of the progress check on incomplete bodies. */
export const PROGRESS_WINDOW_MS = 30_000;
/** Minimum bytes per check: half a kilobyte a second, a tenth of the slowest mobile line. */
const MIN_PROGRESS_BYTES = 16 * 1024;

export type InFlight = ReturnType<typeof createInFlight>;

/** One body or message that is arriving. */
export interface Arrival {
  /**
   * Counts `bytes` more, or fewer if negative. False when the limit is exceeded: the caller must
   * then keep none of them.
   */
  add(bytes: number): boolean;
  /** Releases the counted bytes, once the body is complete or abandoned. May be called twice. */
  close(): void;
}

/** Creates the counter, with nothing counted. */
export function createInFlight(clock: Clock, maxBytes = Number.POSITIVE_INFINITY) {
  let max = maxBytes;
  let held = 0;
  return {
    /** Bytes held now. */
    get heldBytes(): number {
      return held;
    },
    /** Replaces the limit; bytes already held still count. */
    configure(next: number): void {
      max = next;
    },
    /**
     * Counts `bytes` of a complete body that is waiting; the returned function releases them, once.
     * Undefined when the limit is exceeded.
     */
    claim(bytes: number): (() => void) | undefined {
      if (held + bytes > max) return undefined;
      held += bytes;
      let isHeld = true;
      return () => {
        if (isHeld) held -= bytes;
        isHeld = false;
      };
    },
    /**
     * Starts counting one body or message. `fail` is called once with the reason why no more is
     * accepted; bytes that have arrived count until the caller closes the arrival.
     */
    open(fail: (error: SvcError) => void): Arrival {
      let arrivalBytes = 0;
      let seen = 0;
      let isOpen = true;
      let isFull = true;
      let stopTimer = clock.after(PROGRESS_WINDOW_MS, check);
      function close(): void {
        if (!isOpen) return;
        isOpen = false;
        stopTimer();
        held -= arrivalBytes;
      }
      function check(): void {
        if (arrivalBytes - seen >= MIN_PROGRESS_BYTES) {
          seen = arrivalBytes;
          stopTimer = clock.after(PROGRESS_WINDOW_MS, check);
          return;
        }
        refuse(malformedRequest('The rest of the request body did not arrive'));
      }
      function refuse(error: SvcError): void {
        stopTimer();
        isFull = false;
        fail(error);
      }
      return {
        add(bytes) {
          if (!isFull || !isOpen) return false;
          if (held + bytes <= max) {
            arrivalBytes += bytes;
            held += bytes;
            return true;
          }
          refuse(overloaded('Too many bytes are arriving at once (advanced.max_bytes_in_flight)'));
          return false;
        },
        close,
      };
    },
  };
}
