/** How much of the user's own files a request may get. */
export interface InjectConfig {
  readonly enabled: boolean;
  /** Most tokens that are added at once, in the fixed estimator's count. */
  readonly budgetTokens: number;
  /** Most blocks that are added at once. */
  readonly topK: number;
  /** Blocks that score less are left out. */
  readonly minScore: number;
  /** Reduce long blocks with the compressors, where that makes them smaller. */
  readonly capsules: boolean;
  /** Blocks up to this many characters are added as they are. */
  readonly capsuleMinChars: number;
}
