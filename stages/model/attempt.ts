/** One try at a provider, as the trace's waterfall shows it. */
export interface Attempt {
  readonly provider: string;
  readonly model: string | undefined;
  /** Where the configured key that was sent comes from; undefined where it was the client's own, or none. */
  readonly key: string | undefined;
  /** Milliseconds since the start of the run. */
  readonly startedMs: number;
  /** When the response head arrived, or undefined if none did. */
  readonly headMs: number | undefined;
  readonly status: number | undefined;
  /** Why this try did not become the answer: a code or a short reason. */
  readonly failure: string | undefined;
  /** The message of the provider's own error, whether or not it was passed on; absent where none could be read. */
  readonly words?: string | undefined;
  /** True once all of the request was written to the connection. */
  readonly isSent?: boolean;
  /** True if the time for its answer was up. */
  readonly isTimedOut?: boolean;
  /** True of the one whose failure the client gets to see, where no head could say whose it is. */
  readonly isShown?: boolean;
}

/** What of a request a provider refuses whose thoughts do not match what precedes them, in the words of `failure`. */
export const MISMATCHES = 'thoughts that do not match';

/** True of an attempt that was refused for them: the request was sent once more, and asked to leave them out. */
export const isRefusedForThoughts = ({ failure }: Attempt): boolean =>
  failure?.endsWith(MISMATCHES) === true;

/** The attempt whose failure the client got; undefined where an answer's head says who answered. */
export function shownIn(attempts: readonly Attempt[] | undefined): Attempt | undefined {
  return attempts?.find((attempt) => attempt.isShown === true);
}
