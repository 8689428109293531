/** A grammar that must be loaded before a text can be looked at; nothing was decided about it. */
export class GrammarNeeded extends Error {
  readonly grammar: string;
  constructor(grammar: string) {
    super(`the grammar for ${grammar} is not loaded`);
    this.name = 'GrammarNeeded';
    this.grammar = grammar;
  }
}
