/** What the rules of the classifier look at: the text, features of its lines, and what ran. */
import type { TextClass } from './classes.ts';
import type { FeatureCounts } from './features.ts';
import type { Totals } from './totals.ts';

/** Gathered once per text; `text` is without the tool's wrapping, colours and line numbers. */
export interface Evidence {
  readonly text: string;
  /** True if the text was a view with line numbers. */
  readonly numbered: boolean;
  /** A sample of lines that are not blank. */
  readonly lines: readonly string[];
  /** Totals among the first lines and the last; searched on first use. */
  readonly totals: () => Totals | undefined;
  /** True if the text consists of sentences; determined on first use. */
  readonly isProse: () => boolean;
  readonly features: FeatureCounts;
  readonly expected: TextClass | undefined;
  /** True if the program prints facts, one per line: no line may be thinned out. */
  readonly facts: boolean;
  /** True if the program reports on its own work and prints nothing else. */
  readonly report: boolean;
  /** True if a program ran whose output is unknown. */
  readonly ran: boolean;
  /** True if files were shown as they are. */
  readonly file: boolean;
  readonly markdownFences: boolean;
}
