/**
 * A number that a double does not write as it was written. A count or a setting reads it as that
 * double.
 */
export class ExactNumber extends Number {
  /** A JSON number (RFC 8259 §6). */
  readonly text: string;

  constructor(text: string) {
    super(text);
    this.text = text;
  }
}
