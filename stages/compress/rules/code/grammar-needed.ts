/** A grammar without which nothing can be decided about a text. */
export class GrammarNeeded extends Error {
  readonly grammar: string;
  /** Why it cannot be loaded; undefined where nobody tried, and the text is to be tried again with it loaded. */
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
