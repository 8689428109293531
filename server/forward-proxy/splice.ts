/** Two connections joined into one: what either side sends goes to the other, unread. */
import type { Duplex } from 'node:stream';
import { createGiveBack } from './give-back.ts';

/** A side that is silent for so long has gone without a word; sockets of remote control ping more often. */
const IDLE_MS = 30 * 60_000;
/** After one side has ended, how long the other may take. */
const HALF_OPEN_MS = 60_000;

export interface SpliceOptions {
  readonly idleMs?: number;
  readonly halfOpenMs?: number;
}

/** Joins `a` and `b` until both have ended or one fails; resolves when both are closed. Never rejects. */
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
    // Set again a few times an hour rather than at every chunk.
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
        // Over the mark is nearly every write, but the system has mostly taken it all by now.
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
        // What was read of the other side is lost with this one.
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
