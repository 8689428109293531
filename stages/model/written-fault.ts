/** What is wrong with something that a user wrote, such as a recipe or a macro. */

export interface WrittenFault {
  /** Keys and list places down to it. */
  readonly path: readonly string[];
  /** Goes on after the path. */
  readonly message: string;
}

export type ReportFault = (path: readonly string[], message: string) => void;
