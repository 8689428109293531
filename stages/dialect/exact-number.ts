/** A number that a double does not write as it was written. Where a count or a setting is read it counts as that double. */
export class ExactNumber extends Number {
  /** A JSON number (RFC 8259 §6). */
  readonly text: string;

  constructor(text: string) {
    super(text);
    this.text = text;
  }
}
