/** What a process of the test runner tells the one that started it. */

/** What a file's tests came to. */
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
   * What threw: `load` is the file itself, before its tests began; `after` was called behind them,
   * and `suite` is an `after` of a named suite, whose tests are then in none of the figures.
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

/** Written to both outputs when `file` begins, so that what follows is known to be its own. */
export function fileMark(file: string): string {
  return `\u0000${file}\u0000`;
}

/** What a stream holds, by the file that was running. */
export function outputByFile(text: string): ReadonlyMap<string, string> {
  const [, ...pieces] = text.split('\u0000');
  const found = new Map<string, string>();
  for (let at = 0; at + 1 < pieces.length; at += 2) found.set(pieces[at]!, pieces[at + 1]!);
  return found;
}
