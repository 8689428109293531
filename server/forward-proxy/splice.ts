/** Joins two connections: bytes from either side go to the other, unread. */
import type { Duplex } from 'node:stream';
import { createGiveBack } from './give-back.ts';

/** A side that is silent for this long is gone; remote-control sockets ping more often. */
const IDLE_MS = 30 * 60_000;
/** Longest that the second side may continue after the first has ended. */
const HALF_OPEN_MS = 60_000;

export interface SpliceOptions {
  readonly idleMs?: number;
  readonly halfOpenMs?: number;
}

/**
 * Joins `a` and `b` until both have ended or one fails; resolves when both are closed. Never
 * rejects.
 */
export function splice(
  a: Duplex,
  b: Duplex,
  { idleMs = IDLE_MS, halfOpenMs = HALF_OPEN_MS }: SpliceOptions = {},
): Promise<void> {
  return new Promise((resolve) => {
    let open = 2;
    const destroy = (): void => {
      a.destroy();
      b.destroy();
    };
    // The timer is reset a few times an hour rather than with every chunk.
    let heardMs = performance.now();
    const heard = (): void => void (heardMs = performance.now());
    const idle = setInterval(
      () => {
        if (performance.now() - heardMs > idleMs) destroy();
      },
      Math.ceil(idleMs / 4),
    );
    let half: NodeJS.Timeout | undefined;
    const giveBack = createGiveBack();
    const carry = (from: Duplex, to: Duplex): void => {
      from.on('data', (bytes: Buffer) => {
        heard();
        const isBelowMark = to.write(bytes, () => giveBack(bytes));
        // Nearly every write exceeds the mark, but by now the system has usually taken it all.
        if (!isBelowMark && to.writableLength > 0) from.pause();
      });
      to.on('drain', () => from.resume());
      from.once('end', () => to.end());
      from.resume();
    };
    for (const side of [a, b]) {
      side.on('error', destroy);
      side.once('end', () => (half ??= setTimeout(destroy, halfOpenMs)));
      side.once('close', () => {
        open -= 1;
        // Data already read from the other side is lost with this one.
        if (open > 0) setImmediate(destroy);
        else {
          clearInterval(idle);
          clearTimeout(half);
          resolve();
        }
      });
    }
    carry(a, b);
    carry(b, a);
    if (a.destroyed || b.destroyed) destroy();
  });
}
