/** The vault, asked in bounded time: a request waits for it a moment, and not while that is in vain. */
import type { Clock } from '../../engine/clock.ts';
import type { Vault } from '../vault/contract.ts';

/** A vault that is being repaired is not waited for longer than this. */
const MAX_WAIT_MS = 200;
/** Until its first answer an index is being opened, which the first requests after a start wait for. */
const FIRST_WAIT_MS = 2000;

export type VaultInTime = ReturnType<typeof createVaultInTime>;

/** Asks `vault`, which then goes on by itself with what took too long. */
export function createVaultInTime(vault: Vault, clock: Clock) {
  const overdue = new Set<Promise<unknown>>();
  let hasAnswered = false;
  return {
    /**
     * The vault's answer; undefined when it takes too long, when an earlier question that took
     * too long is still without one, or while a large index is being loaded.
     */
    async ask<T>(question: (vault: Vault) => Promise<T>): Promise<T | undefined> {
      if (overdue.size > 0 || !vault.isReady()) return undefined;
      const asked = question(vault).finally(() => (hasAnswered = true));
      let stopTimer: (() => void) | undefined;
      const late = new Promise<undefined>((resolve) => {
        stopTimer = clock.after(hasAnswered ? MAX_WAIT_MS : FIRST_WAIT_MS, () => {
          overdue.add(asked);
          resolve(undefined);
        });
      });
      try {
        return await Promise.race([asked, late]);
      } finally {
        stopTimer?.();
        const settle = (): boolean => overdue.delete(asked);
        if (overdue.has(asked)) asked.then(settle, settle);
      }
    },
  };
}
