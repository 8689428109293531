/**
 * A vault whose code and index are loaded on first use. Most of the code is for indexing, and
 * should not slow the start of a proxy without an index.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OpenedVault, Vault, VaultOptions } from './contract.ts';
import { layoutOf } from './log/layout.ts';

/** How long the result of one disk check is used. */
const POLL_MS = 1000;
/** A larger log cannot be loaded into memory in the time that a request may wait. */
const LARGE_LOG_BYTES = 4 * 1024 * 1024;

/**
 * Returns the vault at `indexDir`; `mayHaveBlocks` starts loading it if there is something to find.
 */
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
      // If the vault cannot be loaded, later calls report why.
      vault.status().then(loaded, loaded);
      return vault;
    });
    return opening;
  };
  return {
    mayHaveBlocks() {
      const nowMs = options.clock.monotonicMs();
      if (nowMs < nextLookMs) return isThere;
      nextLookMs = nowMs + POLL_MS;
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

/**
 * Returns the file's size; undefined if it is missing or inaccessible, for example because a folder
 * became a file.
 */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}
