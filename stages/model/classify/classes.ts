/** The classes that content falls into, and what is known beside the class. */

/**
 * What a text is, by its shape. Every text has exactly one class. `narrative` takes positive
 * evidence of sentences; `other` is all that is laid out in some way of its own: tables,
 * rows, names, usage texts. Any line of it may be what was asked for, so it is left whole.
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

/** A classification: the class, with the file extension where one is known. */
export interface Classification {
  readonly kind: TextClass;
  /** Lower case, without the dot: `py`, `ts`, `yaml`. */
  readonly extension?: string;
  /** True if the text is a file as it lies on disk, which an edit may have to match to the letter. */
  readonly file?: boolean;
}
