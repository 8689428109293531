/** How answers are fetched. */
export interface ForwardConfig {
  /** False fetches every answer whole; a client that asked for a stream gets one short stream. */
  readonly streamingEnabled: boolean;
  /** False for a model that may not stream (`models.<alias>.stream`). */
  readonly streams: (model: string | undefined) => boolean;
  /** True to set cache markers, or a cache key, for a client that sets none. */
  readonly setsBreakpoints: boolean;
}
