/** The index of the user's own files, and what of it is added to a request. */
import { asPath, isSwitchedOn, setting } from '../setting.ts';
import { between, count, flag, oneOf, path } from '../value.ts';

/** `vault.*`. The folder of the index is `advanced.vault_index_path`. */
export const vault = {
  'vault.enabled': setting({
    type: flag,
    default: true,
    about: 'Add blocks from the vault to requests, once an index exists.',
    loosens: isSwitchedOn,
  }),
  'vault.root': setting({
    type: path,
    default: null,
    about: 'Folder that holds `vault.index_file`; together they name the index folder.',
    resolve: asPath,
    guarded: true,
    needsRestart: true,
  }),
  'vault.index_file': setting({
    type: path,
    default: null,
    defaultText: '`.index`',
    about: 'Name of the index below `vault.root` (or below `$SVC_HOME`).',
    guarded: true,
    needsRestart: true,
  }),
  'vault.backend': setting({
    type: oneOf('json_blocks', 'sqlite'),
    default: 'json_blocks',
    env: ['SVC_RETRIEVAL_BACKEND'],
    about: 'How the index is stored: in memory from JSON files, or in SQLite.',
    needsRestart: true,
  }),
  'vault.inject_budget': setting({
    type: count('tokens'),
    default: 4000,
    env: ['SVC_INJECT_BUDGET'],
    about: 'Most tokens added to one message.',
  }),
  'vault.inject_top_k': setting({
    type: count('blocks'),
    default: 5,
    env: ['SVC_INJECT_TOP_K'],
    about: 'Most blocks added to one message.',
  }),
  'vault.inject_min_score': setting({
    type: between(0, 1_000_000, 'a BM25 score'),
    default: 2,
    env: ['SVC_INJECT_MIN_SCORE'],
    about: 'BM25 score below which a block is not added, however well it fits the question.',
  }),
  'vault.capsules': setting({
    type: flag,
    default: false,
    env: ['SVC_CAPSULE_BUILDER'],
    about: 'Shorten long added blocks before they are sent.',
  }),
  'vault.capsule_min_chars': setting({
    type: count('characters'),
    default: 400,
    env: ['SVC_CAPSULE_MIN_CHARS'],
    about: 'Characters from which an added block is shortened.',
  }),
};
