/** What must not be sent any more of what was found once, and sent. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SAFE, type BlockSource } from './block.ts';
import type { BlockIndex } from './backends/block-index.ts';
import { isInside } from './indexing/indexer.ts';

/** Of `blocks`, the ids that `Vault.withdrawn` is to give, by an index that is up to date. */
export function withdrawnFrom(index: BlockIndex, blocks: readonly BlockSource[]): string[] {
  const owed = index.owed();
  const isWithdrawn = (block: BlockSource): boolean => {
    const held = index.held(block.id);
    if (held !== undefined) return held.riskClass !== SAFE;
    return !owed.has(block.root) && isTakenOut(index, block);
  };
  return blocks.filter(isWithdrawn).map(({ id }) => id);
}

/**
 * True for a block whose folder was forgotten, or whose file is there and yet left out: by
 * then both were somebody's wish. A file that is gone from the disk says nothing of the kind.
 */
function isTakenOut(index: BlockIndex, { root, sourcePath }: BlockSource): boolean {
  if (root === '') return true;
  const path = join(root, sourcePath);
  // The folder may have become part of another one that was indexed since.
  const roots = index.roots().filter((one) => one === root || isInside(path, one));
  if (roots.some((one) => index.hasFile(one, relative(one, path)))) return false;
  return roots.length === 0 || existsSync(path);
}
