/** Joins two connections: bytes from either side go to the other, unread. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../engine/index.ts';
import { createBufferRelease } from './free-buffer.ts';

/** A side that is silent for this long is gone; remote-control sockets ping more often. */
const IDLE_MS = 30 * 60_000;
/** The same once one side has ended: what remains is a response, not a conversation. */
const HALF_OPEN_IDLE_MS = 60_000;

/**
 * Joins `a` and `b` until both have ended or one fails; resolves when both are closed. Never
 * rejects.
 */
export function splice(a: Duplex, b: Duplex, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let open = 2;
    const destroy = (): void => {
      a.destroy();
      b.destroy();
    };
    let idleMs = IDLE_MS;
    let lastActivityMs = clock.monotonicMs();
    const noteActivity = (): void => void (lastActivityMs = clock.monotonicMs());
    // The timer is set again when it fires rather than with every chunk.
    const checkIdle = (): void => {
      const leftMs = lastActivityMs + idleMs - clock.monotonicMs();
      if (leftMs <= 0) destroy();
      else stopTimer = clock.after(leftMs, checkIdle);
    };
    let stopTimer = clock.after(idleMs, checkIdle);
    const onHalfOpen = (): void => {
      idleMs = HALF_OPEN_IDLE_MS;
      noteActivity();
      stopTimer();
      checkIdle();
    };
    const releaseBuffer = createBufferRelease();
    const pipe = (from: Duplex, to: Duplex): void => {
      from.on('data', (bytes: Buffer) => {
        noteActivity();
        const isBelowMark = to.write(bytes, () => {
          // A slow reader is not silent.
          noteActivity();
          releaseBuffer(bytes);
        });
        // Nearly every write exceeds the mark, but by now the system has usually taken it all.
        if (!isBelowMark && to.writableLength > 0) from.pause();
      });
      to.on('drain', () => from.resume());
      from.once('end', () => to.end());
      from.resume();
    };
    for (const side of [a, b]) {
      side.on('error', destroy);
      side.once('end', onHalfOpen);
      side.once('close', () => {
        open -= 1;
        // Data already read from the other side is lost with this one.
        if (open > 0) setImmediate(destroy);
        else {
          stopTimer();
          resolve();
        }
      });
    }
    pipe(a, b);
    pipe(b, a);
    if (a.destroyed || b.destroyed) destroy();
  });
}
