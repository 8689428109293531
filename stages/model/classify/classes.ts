/** The classes of content, and what is known besides the class. */

/**
 * What a text is, by its shape. Every text has exactly one class. `narrative` needs positive
 * evidence of sentences; `other` is everything with a layout of its own: tables, rows, names, usage
 * texts. Any line of it may be the one that matters, so it is left whole.
 */
export const TEXT_CLASSES = [
  'narrative',
  'code',
  'config',
  'log',
  'json',
  'listing',
  'grep',
  'diff',
  'trace',
  'html',
  'blob',
  'other',
] as const;

export type TextClass = (typeof TEXT_CLASSES)[number];

/** A classification: the class, with the file extension if known. */
export interface Classification {
  readonly kind: TextClass;
  /** Lower case, without the dot: `py`, `ts`, `yaml`. */
  readonly extension?: string;
  /** True if the text is a file as it is on disk, which an edit may have to match exactly. */
  readonly file?: boolean;
}
