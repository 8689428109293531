/** What the rules of the classifier look at: the text, features of its lines, and what ran. */
import type { TextClass } from './classes.ts';
import type { FeatureCounts } from './features.ts';

/** Gathered once a text; `text` is without the tool's wrapping and colours. */
export interface Evidence {
  readonly text: string;
  /** A sample of lines that are not blank. */
  readonly lines: readonly string[];
  /** The same, each cut later: a paragraph is one line more often than not. */
  readonly paragraphs: () => readonly string[];
  readonly features: FeatureCounts;
  readonly expected: TextClass | undefined;
  /** True if what ran prints facts, one a line: no line of it may be thinned out. */
  readonly facts: boolean;
  /** True if what ran reports on its own work and prints nothing else. */
  readonly report: boolean;
  /** True if the file is a log by its name. */
  readonly logFile: boolean;
  readonly markdownFences: boolean;
}
