/** Determines blocks found and sent earlier that must no longer be sent. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SAFE, type BlockSource } from './block.ts';
import type { BlockIndex } from './backends/block-index.ts';
import { isInside } from './indexing/indexer.ts';

/** Returns the ids of `blocks` for `Vault.withdrawn`, by an up-to-date index. */
export function withdrawnFrom(index: BlockIndex, blocks: readonly BlockSource[]): string[] {
  const owed = index.owed();
  const isWithdrawn = (block: BlockSource): boolean => {
    const held = index.findBlock(block.id);
    if (held !== undefined) return held.riskClass !== SAFE;
    return !owed.has(block.root) && isRemoved(index, block);
  };
  return blocks.filter(isWithdrawn).map(({ id }) => id);
}

/**
 * Returns true for a block whose folder was forgotten, or whose file exists but is excluded: both
 * are deliberate. A file deleted from the disk is not.
 */
function isRemoved(index: BlockIndex, { root, sourcePath }: BlockSource): boolean {
  if (root === '') return true;
  const path = join(root, sourcePath);
  // The folder may have become part of another one indexed since.
  const roots = index.roots().filter((one) => one === root || isInside(path, one));
  if (roots.some((one) => index.hasFile(one, relative(one, path)))) return false;
  return roots.length === 0 || existsSync(path);
}
