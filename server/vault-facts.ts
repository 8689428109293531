/**
 * What `/health` and `/stats` say about the vault. They must answer at once, so a vault
 * that is being loaded or repaired is not waited for: what was known last is said again.
 */
import type { Clock } from '../engine/index.ts';
import type { Vault } from '../stages/vault/index.ts';

const MAX_WAIT_MS = 200;

export interface VaultFacts {
  /** As `vault_index` in both answers. */
  readonly index: { readonly available: boolean; readonly blocks: number; readonly path: string };
  /** Why the vault is less than well, in words for the user; undefined when nothing is wrong. */
  readonly trouble: string | undefined;
}

/** Reads the facts; `path` is told until the vault has said where it is. Never rejects. */
export function createVaultFacts(
  vault: Vault,
  clock: Clock,
  path: string,
): () => Promise<VaultFacts> {
  let known: VaultFacts = { index: { available: false, blocks: 0, path }, trouble: undefined };

  async function ask(): Promise<void> {
    try {
      const { available, blocks, path: at, rebuilding } = await vault.status();
      const trouble = rebuilding ? 'vault: the index was damaged and is being rebuilt' : undefined;
      known = { index: { available, blocks, path: at }, trouble };
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      const index = { ...known.index, available: false };
      known = { index, trouble: `vault: the index cannot be used: ${message}` };
    }
  }

  return async () => {
    let stopTimer: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      stopTimer = clock.after(MAX_WAIT_MS, resolve);
    });
    await Promise.race([ask(), late]);
    stopTimer?.();
    return known;
  };
}
