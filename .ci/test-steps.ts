/** Messages from a process of the test runner to the one that started it. */

/** Result of a file's tests. */
export interface Ended {
  readonly kind: 'ended';
  readonly file: string;
  readonly passed: number;
  readonly skipped: number;
  /** Tests that `run()` was called for. */
  readonly total: number;
  /** Tests that `run()` was not called for. */
  readonly neverRun: number;
  /**
   * What threw: `load` is the file itself, before its tests; `after` is a hook after them; `suite`
   * is an `after` of a named suite, whose tests are then missing from the figures.
   */
  readonly threw?: 'load' | 'after' | 'suite' | undefined;
  readonly durationMs: number;
}

/** One line of JSON on file descriptor 3. */
export type TestStep =
  | { readonly kind: 'begun'; readonly file: string }
  | Ended
  /** Something was still open long after the file's last test; the process ends. */
  | { readonly kind: 'open'; readonly file: string; readonly resources: readonly string[] };

/**
 * Returns the mark written to both outputs when `file` starts, so that what follows can be
 * attributed to it.
 */
export function fileMark(file: string): string {
  return `\u0000${file}\u0000`;
}

/** Splits a stream's text by the file that was running. */
export function outputByFile(text: string): ReadonlyMap<string, string> {
  const [, ...pieces] = text.split('\u0000');
  const found = new Map<string, string>();
  for (let at = 0; at + 1 < pieces.length; at += 2) found.set(pieces[at]!, pieces[at + 1]!);
  return found;
}
