/**
 * What bodies and messages that have not arrived whole may hold together
 * (`advanced.max_bytes_in_flight`), and how slowly they may come. Each has a limit of its own, but
 * a client that opens many and finishes none would hold all of them at once.
 */
import type { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { malformedRequest, overloaded } from '../../stages/model/errors.ts';

/** What is not whole is looked at this often. */
export const PROGRESS_WINDOW_MS = 30_000;
/** What must have come since the last look: half a kilobyte a second, a tenth of the slowest mobile line. */
const LEAST_PROGRESS_BYTES = 16 * 1024;

export type InFlight = ReturnType<typeof createInFlight>;

/** One body or message that is arriving. */
export interface Arrival {
  /** Counts `bytes` more, or less where negative; false where that is too much, and nothing of it may be kept. */
  add(bytes: number): boolean;
  /** It is whole, or was let go: what it held is free again. May be called twice. */
  close(): void;
}

/** Counts nothing yet. */
export function createInFlight(clock: Clock, maxBytes = Number.POSITIVE_INFINITY) {
  let most = maxBytes;
  let held = 0;
  return {
    /** Bytes held now. */
    get heldBytes(): number {
      return held;
    },
    /** Takes over another limit; what is held stays. */
    configure(next: number): void {
      most = next;
    },
    /** Holds `bytes` that are whole and wait; the returned function gives them back, once. Undefined where that is too much. */
    claim(bytes: number): (() => void) | undefined {
      if (held + bytes > most) return undefined;
      held += bytes;
      let isHeld = true;
      return () => {
        if (isHeld) held -= bytes;
        isHeld = false;
      };
    },
    /**
     * Begins to count one body or message. `fail` is called once with the reason why no more of it is
     * taken; what has arrived counts until it is let go and the arrival closed.
     */
    open(fail: (error: SvcError) => void): Arrival {
      let own = 0;
      let seen = 0;
      let isOpen = true;
      let isTaken = true;
      let stopTimer = clock.after(PROGRESS_WINDOW_MS, look);
      function close(): void {
        if (!isOpen) return;
        isOpen = false;
        stopTimer();
        held -= own;
      }
      function look(): void {
        if (own - seen >= LEAST_PROGRESS_BYTES) {
          seen = own;
          stopTimer = clock.after(PROGRESS_WINDOW_MS, look);
          return;
        }
        refuse(malformedRequest('The rest of the request body did not arrive'));
      }
      function refuse(error: SvcError): void {
        stopTimer();
        isTaken = false;
        fail(error);
      }
      return {
        add(bytes) {
          if (!isTaken || !isOpen) return false;
          if (held + bytes <= most) {
            own += bytes;
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
