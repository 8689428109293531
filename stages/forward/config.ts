/** How answers are fetched. */
export interface ForwardConfig {
  /** False fetches every answer whole; a client that asked for a stream gets one short stream. */
  readonly streamingEnabled: boolean;
  /** True if a stage sees events, so that answers are asked for unencoded. */
  readonly needsEvents: boolean;
}
