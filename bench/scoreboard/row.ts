/**
 * One promise of the scoreboard: what threatens it, the test that checks it, and the defect that
 * must turn that test red.
 */
export interface Row {
  /** Short id, by which rows are chosen. */
  readonly id: string;
  readonly threat: string;
  readonly required: string;
  /** The test's source file. */
  readonly file: string;
  /** Its name, or the constant part of it. */
  readonly test: string;
  readonly sabotage: Sabotage;
  /** True if it takes more than some seconds: skipped with `--quick`. */
  readonly isSlow?: boolean;
}

/** A realistic defect: in one source file, `before` becomes `after`. */
export interface Sabotage {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}
