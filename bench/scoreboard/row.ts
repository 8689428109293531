/** One promise of the scoreboard: what threatens it, the test that holds it, and the defect that must turn that test red. */
export interface Row {
  /** Short, for `--only`. */
  readonly id: string;
  readonly threat: string;
  readonly required: string;
  /** The test's file in the sources. */
  readonly file: string;
  /** Its name, or the part of it that is always the same. */
  readonly test: string;
  readonly sabotage: Sabotage;
  /** True where it takes more than some seconds: left out with `--quick`. */
  readonly isSlow?: boolean;
}

/** A defect, as somebody might make it: in one file of the sources, `before` becomes `after`. */
export interface Sabotage {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}
