/**
 * Uses the running proxy's vault: it has the index in memory, and loading a large one takes
 * seconds.
 */
import type { Config } from '../../server/config/config.ts';
import type { SearchHit } from '../../stages/vault/search/search.ts';
import type { VaultStatus } from '../../stages/vault/contract.ts';
import { control } from '../remote.ts';

/** A hit for display, without the text of its block. */
export type HitView = Omit<SearchHit, 'content'>;

/**
 * Returns the running proxy's results; undefined if none runs, or it uses another index, has not
 * loaded it, or fails: the index then has to be opened here.
 */
export async function searchRunning(
  config: Config,
  search: { readonly query: string; readonly top: number; readonly includeUnsafe: boolean },
): Promise<readonly HitView[] | undefined> {
  const { query, top, includeUnsafe } = search;
  const input = { query, top, include_unsafe: includeUnsafe };
  const result = await ask(config, 'vault-search', input);
  return Array.isArray(result?.['hits']) ? (result['hits'] as HitView[]) : undefined;
}

/** Returns the status of the running proxy's index; undefined as for `searchRunning`. */
export async function statusOfRunning(config: Config): Promise<VaultStatus | undefined> {
  const status = (await ask(config, 'vault-status', {}))?.['status'];
  return typeof status === 'object' && status !== null ? (status as VaultStatus) : undefined;
}

async function ask({ home, vault: { indexPath, backend } }: Config, name: string, input: object) {
  try {
    const result = await control(home, name, { index_path: indexPath, backend, ...input });
    return result['ready'] === true ? result : undefined;
  } catch {
    // Whatever is wrong with that proxy, the index can still be read.
    return undefined;
  }
}
