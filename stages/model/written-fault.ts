/** A fault in something written by a user, such as a recipe or a macro. */

export interface WrittenFault {
  /** Keys and list indexes down to it. */
  readonly path: readonly string[];
  /** Continues the sentence after the path. */
  readonly message: string;
}

export type ReportFault = (path: readonly string[], message: string) => void;
