/** Thrown where a text cannot be decided without a grammar. */
export class GrammarNeeded extends Error {
  readonly grammar: string;
  /**
   * Why it cannot be loaded; undefined if that was not tried yet: load it and try the text again.
   */
  readonly trouble: string | undefined;
  constructor(grammar: string, trouble?: string) {
    super(
      `the grammar for ${grammar} ${trouble === undefined ? 'is not loaded' : `cannot be loaded: ${trouble}`}`,
    );
    this.name = 'GrammarNeeded';
    this.grammar = grammar;
    this.trouble = trouble;
  }
}
