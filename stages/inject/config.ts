/** How much of the user's own files a request may get. */
export interface InjectConfig {
  readonly enabled: boolean;
  /** Most tokens that are added to one message, in the fixed estimator's count; a conversation gets at most four times as many. */
  readonly budgetTokens: number;
  /** Most blocks that are added to one message. */
  readonly topK: number;
  /** Blocks that score less are left out. */
  readonly minScore: number;
  /** Reduce long blocks with the compressors, where that makes them smaller. */
  readonly capsules: boolean;
  /** Blocks of fewer characters are added as they are. */
  readonly capsuleMinChars: number;
}
