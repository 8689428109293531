/**
 * A vault whose code and index are loaded when somebody needs them. Most of it is for
 * indexing, and a proxy that has no index should not start slower for it.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OpenedVault, Vault, VaultOptions } from './contract.ts';
import { layoutOf } from './log/layout.ts';

/** How long one look at the disk serves. */
const LOOK_MS = 1000;
/** A larger log is not loaded into memory within the moment that a request may wait. */
const LARGE_LOG_BYTES = 4 * 1024 * 1024;

/** The vault at `indexDir`; `mayHaveBlocks` begins to load it where there is something to find. */
export function deferVault(options: VaultOptions): Vault {
  const { log } = layoutOf(resolve(options.indexDir));
  let opening: Promise<OpenedVault> | undefined;
  let isThere = false;
  let isLarge = false;
  let isLoaded = false;
  let nextLookMs = Number.NEGATIVE_INFINITY;

  const open = (): Promise<OpenedVault> => {
    opening ??= import('./vault.ts').then(({ openVault }) => {
      const vault = openVault(options);
      const loaded = (): void => void (isLoaded = true);
      // Who asks a vault that cannot be loaded hears why.
      vault.status().then(loaded, loaded);
      return vault;
    });
    return opening;
  };
  return {
    mayHaveBlocks() {
      const nowMs = options.clock.monotonicMs();
      if (nowMs < nextLookMs) return isThere;
      nextLookMs = nowMs + LOOK_MS;
      const sizeBytes = sizeOf(log);
      isThere = sizeBytes !== undefined;
      isLarge = options.backend === 'json_blocks' && (sizeBytes ?? 0) > LARGE_LOG_BYTES;
      if (isThere) void open();
      return isThere;
    },
    isReady: () => isLoaded || !isLarge,
    search: async (query, how) => (await open()).search(query, how),
    withdrawn: async (blocks) => (await open()).withdrawn(blocks),
    async ingest(blocks) {
      const results = await (await open()).ingest(blocks);
      nextLookMs = Number.NEGATIVE_INFINITY;
      return results;
    },
    status: async () => (await open()).status(),
    list: async (page) => (await open()).list(page),
    settled: async () => (await opening)?.settled(),
    close: async () => (await opening)?.close(),
  };
}

/** Undefined where there is no such file, or nobody can look: a folder may have become a file. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}
