/** One attempt at a provider, as the trace's waterfall shows it. */
export interface Attempt {
  readonly provider: string;
  readonly model: string | undefined;
  /**
   * Where the configured key that was sent comes from; undefined for the client's own key, or none.
   */
  readonly key: string | undefined;
  /** Milliseconds since the start of the run. */
  readonly startedMs: number;
  /** When the response head arrived, or undefined if none did. */
  readonly headMs: number | undefined;
  readonly status: number | undefined;
  /** Why this attempt did not become the answer: a code or a short reason. */
  readonly failure: string | undefined;
  /**
   * The message of the provider's own error, whether or not it was passed on; absent if none could
   * be read.
   */
  readonly message?: string | undefined;
  /** True once the whole request was written to the connection. */
  readonly isSent?: boolean;
  /** True if its answer timed out. */
  readonly isTimedOut?: boolean;
  /**
   * True for the attempt whose failure the client sees, when no response head says which attempt
   * that is.
   */
  readonly isShown?: boolean;
}

/**
 * The failure of a provider that refuses thinking blocks which do not match what precedes them, as
 * text for `failure`.
 */
export const THOUGHT_MISMATCH = 'thoughts that do not match';

/**
 * Returns true for an attempt refused for that reason: the request was sent again with a parameter
 * to ignore the blocks.
 */
export const isRefusedForThoughts = ({ failure }: Attempt): boolean =>
  failure?.endsWith(THOUGHT_MISMATCH) === true;

/**
 * Returns the attempt whose failure the client received; undefined if the head of an answer says
 * which provider answered.
 */
export function attemptToShow(attempts: readonly Attempt[] | undefined): Attempt | undefined {
  return attempts?.find((attempt) => attempt.isShown === true);
}
