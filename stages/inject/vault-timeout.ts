/**
 * Limits the time that a request waits for the vault, and skips the wait while it would be in vain.
 */
import type { Clock } from '../../engine/clock.ts';
import type { Vault } from '../vault/contract.ts';

/** Maximum wait, for example for a vault under repair. */
const MAX_WAIT_MS = 200;
/** Maximum wait before the first result, while the index is still being opened. */
const FIRST_WAIT_MS = 2000;

export type VaultInTime = ReturnType<typeof createVaultInTime>;

/** Wraps `vault`; a query that takes too long continues in the background. */
export function createVaultInTime(vault: Vault, clock: Clock) {
  const overdue = new Set<Promise<unknown>>();
  let hasAnswered = false;
  return {
    /**
     * Returns the vault's result; undefined if it takes too long, while an earlier overdue query is
     * still unanswered, or while a large index is being loaded.
     */
    async ask<T>(question: (vault: Vault) => Promise<T>): Promise<T | undefined> {
      if (overdue.size > 0 || !vault.isReady()) return undefined;
      const pending = question(vault).finally(() => (hasAnswered = true));
      let stopTimer: (() => void) | undefined;
      const late = new Promise<undefined>((resolve) => {
        stopTimer = clock.after(hasAnswered ? MAX_WAIT_MS : FIRST_WAIT_MS, () => {
          overdue.add(pending);
          resolve(undefined);
        });
      });
      try {
        return await Promise.race([pending, late]);
      } finally {
        stopTimer?.();
        const settle = (): boolean => overdue.delete(pending);
        if (overdue.has(pending)) pending.then(settle, settle);
      }
    },
  };
}
