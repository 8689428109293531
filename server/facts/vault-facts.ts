/**
 * What `/health` and `/stats` report about the vault, also while it is being loaded or repaired.
 */
import type { Clock } from '../../engine/index.ts';
import type { Vault } from '../../stages/vault/contract.ts';
import { lastKnown } from './last-known.ts';

export interface VaultFacts {
  /** As `vault_index` in both responses. */
  readonly index: { readonly available: boolean; readonly blocks: number; readonly path: string };
  /** Why the vault is degraded, in words for the user; undefined when nothing is wrong. */
  readonly problem: string | undefined;
}

/**
 * Creates the reader of the facts; `path` is the fallback until the vault reports its own. Never
 * rejects.
 */
export function createVaultFacts(
  vault: Vault,
  clock: Clock,
  path: string,
): () => Promise<VaultFacts> {
  const first: VaultFacts = {
    index: { available: false, blocks: 0, path },
    problem: undefined,
  };
  return lastKnown(clock, first, async (known) => {
    if (!vault.isReady()) return known;
    try {
      const { available, blocks, path: at, rebuilding } = await vault.status();
      const problem = rebuilding ? 'vault: the index was damaged and is being rebuilt' : undefined;
      return { index: { available, blocks, path: at }, problem };
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      const index = { ...known.index, available: false };
      return { index, problem: `vault: the index cannot be used: ${message}` };
    }
  });
}
