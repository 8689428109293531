/** `vault.*`: the location of the index of the user's own files. */
import { isAbsolute, join } from 'node:path';
import { flag, oneOf, path } from '../settings/kind.ts';
import { asPath, isSwitchedOn, setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const vault = slice(
  {
    namedPath: setting('advanced.vault_index_path', {
      type: path,
      default: null,
      defaultText: '`$SVC_HOME/.index`',
      env: ['SVC_VAULT_INDEX', 'VAULT_INDEX_PATH'],
      about: 'Folder of the vault index.',
      resolve: asPath,
      guarded: true,
      needsRestart: true,
    }),
    enabled: setting('vault.enabled', {
      type: flag,
      default: true,
      about: 'Add blocks from the vault to requests, once an index exists.',
      loosens: isSwitchedOn,
    }),
    root: setting('vault.root', {
      type: path,
      default: null,
      about: 'Folder that holds `vault.index_file`; together they name the index folder.',
      resolve: asPath,
      guarded: true,
      needsRestart: true,
    }),
    indexFile: setting('vault.index_file', {
      type: path,
      default: null,
      defaultText: '`.index`',
      about: 'Name of the index below `vault.root` (or below `$SVC_HOME`).',
      guarded: true,
      needsRestart: true,
    }),
    backend: setting('vault.backend', {
      type: oneOf('json_blocks', 'sqlite'),
      default: 'json_blocks',
      env: ['SVC_RETRIEVAL_BACKEND'],
      about: 'How the index is stored: in memory from JSON files, or in SQLite.',
      needsRestart: true,
    }),
  },
  ({ enabled, backend, namedPath, root, indexFile }, { home, origin }) => {
    // An environment variable outranks `vault.root` with its file, which outrank the key in a
    // config file.
    const isOutranked =
      origin('namedPath').source === 'file' && (root !== null || indexFile !== null);
    const name = indexFile ?? '.index';
    const composed = isAbsolute(name) ? name : join(root ?? home, name);
    const indexPath = namedPath === null || isOutranked ? composed : namedPath;
    return { enabled, backend, indexPath };
  },
);
