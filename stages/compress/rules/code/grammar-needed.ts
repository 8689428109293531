/** Thrown if a text cannot be decided without a grammar. */
export class GrammarNeeded extends Error {
  readonly grammar: string;
  /**
   * Why it cannot be loaded; undefined if that was not tried yet: load it and try the text again.
   */
  readonly reason: string | undefined;
  constructor(grammar: string, reason?: string) {
    super(
      `the grammar for ${grammar} ${reason === undefined ? 'is not loaded' : `cannot be loaded: ${reason}`}`,
    );
    this.name = 'GrammarNeeded';
    this.grammar = grammar;
    this.reason = reason;
  }
}
