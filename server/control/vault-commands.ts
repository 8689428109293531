/** Commands on the vault of a running proxy, which has the index loaded already. */
import { resolve } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import type { SearchHit } from '../../stages/vault/search/search.ts';
import type { Vault } from '../../stages/vault/contract.ts';
import type { ControlCommands } from './control.ts';
import type { Config } from '../config/config.ts';

const MAX_HITS = 1000;

/**
 * Returns the commands. Queries receive `index_path` and `backend`, and return `{ ready: false }`
 * if the proxy uses another index or has none completely loaded: the caller then searches itself.
 */
export function vaultCommands(
  vault: Vault,
  { indexPath, backend }: Pick<Config['vault'], 'indexPath' | 'backend'>,
): ControlCommands {
  async function whenReady<T extends object>(
    input: unknown,
    answer: (input: Readonly<Record<string, unknown>>) => Promise<T>,
  ): Promise<{ readonly ready: false } | ({ readonly ready: true } & T)> {
    if (!isObject(input)) throw new SvcError('bad_request', 'The input must be an object');
    const { index_path: path, backend: requestedBackend } = input;
    const isSame = typeof path === 'string' && resolve(path) === resolve(indexPath);
    if (!isSame || requestedBackend !== backend) return { ready: false };
    if (!vault.mayHaveBlocks() || !vault.isReady()) return { ready: false };
    const { available, rebuilding } = await vault.status();
    if (!available || rebuilding) return { ready: false };
    return { ready: true, ...(await answer(input)) };
  }
  return {
    'vault-status': (input) => whenReady(input, async () => ({ status: await vault.status() })),
    'vault-search': (input) =>
      whenReady(input, async ({ query, top, include_unsafe: includeUnsafe }) => {
        if (typeof query !== 'string' || !isHitCount(top)) {
          throw new SvcError('bad_request', `A search takes a query and top, 1 to ${MAX_HITS}`);
        }
        const hits = await vault.search(query, { top, includeUnsafe: includeUnsafe === true });
        return { hits: hits.map(withoutContent) };
      }),
    'vault-ingest': (input) => ingest(vault, input),
  };
}

/** Adds one block, as `POST /ingest` does. */
async function ingest(vault: Vault, input: unknown) {
  // The block reader comes with the indexer, which a proxy without a vault need not load.
  const { toIngestBlock } = await import('../../stages/vault/ingest.ts');
  const [result] = await vault.ingest([toIngestBlock(input)]);
  if (result === undefined) throw new SvcError('internal', 'The vault gave no result');
  if (!result.ok) throw result.error;
  const { id, tokens, stored } = result;
  return { block_id: id, tokens, stored };
}

/** Only a snippet is shown, and a thousand whole blocks would be a large response. */
function withoutContent(hit: SearchHit): Omit<SearchHit, 'content'> {
  const { content: _, ...fields } = hit;
  return fields;
}

function isHitCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_HITS;
}
