/** The vault's door: blocks of the user's own files, indexed, searched, added to, repaired. */
export { SAFE, type BlockInfo, type BlockSource, type RiskClass } from './block.ts';
export type { BackendName } from './backends/block-index.ts';
export {
  calibrate,
  readCalibration,
  type Calibration,
  type CalibrateOptions,
} from './indexing/calibrate.ts';
export { forgetFolder, type ForgetReport } from './indexing/forget.ts';
export {
  checkVault,
  isIndexing,
  rebuildVault,
  type RebuildReport,
  type VaultHealth,
} from './log/health.ts';
export { indexFolder } from './indexing/indexer.ts';
export type { IndexOptions, IndexProgress, IndexReport } from './indexing/index-run.ts';
export { toIngestBlock, type IngestBlock, type IngestResult } from './ingest.ts';
export { DEFAULT_WORKERS, MAX_WORKERS } from './read/read-pool.ts';
export { type SearchHit, type SearchOptions } from './search/search.ts';
export { type Snippet } from './search/snippet.ts';
export { strangersFile } from './log/owner.ts';
export {
  openVault,
  type OpenedVault,
  type Vault,
  type VaultOptions,
  type VaultStatus,
  type VaultTrouble,
} from './vault.ts';
export { type SkipCounts, type SkipReason } from './read/walk.ts';
export { watchFolder, type Watch, type WatchOptions } from './indexing/watch.ts';
