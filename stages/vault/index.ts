/** The vault's door: blocks of the user's own files, indexed, searched, added to, repaired. */
export { SAFE, type BlockInfo, type BlockSource, type RiskClass } from './block.ts';
export type { BackendName } from './block-index.ts';
export {
  calibrate,
  readCalibration,
  type Calibration,
  type CalibrateOptions,
} from './calibrate.ts';
export { forgetFolder, type ForgetReport } from './forget.ts';
export {
  checkVault,
  isIndexing,
  rebuildVault,
  type RebuildReport,
  type VaultHealth,
} from './health.ts';
export { indexFolder } from './indexer.ts';
export type { IndexOptions, IndexProgress, IndexReport } from './index-run.ts';
export { toIngestBlock, type IngestBlock, type IngestResult } from './ingest.ts';
export { DEFAULT_WORKERS, MAX_WORKERS } from './read-pool.ts';
export { type SearchHit, type SearchOptions } from './search.ts';
export { type Snippet } from './snippet.ts';
export { strangersFile } from './owner.ts';
export {
  openVault,
  type OpenedVault,
  type Vault,
  type VaultOptions,
  type VaultStatus,
  type VaultTrouble,
} from './vault.ts';
export { type SkipCounts, type SkipReason } from './walk.ts';
export { watchFolder, type Watch, type WatchOptions } from './watch.ts';
