/** What a user typed and what they pasted: only long pasted material is ever compressed. */

/** A user text in three parts that, joined, are the text. */
export interface PastedText {
  /** A short first paragraph: how the material is introduced. */
  readonly intro: string;
  /** The material; empty where the text is short or is one paragraph. */
  readonly pasted: string;
  /** The last paragraph, with the white space before it. */
  readonly asked: string;
}

/** Shorter texts are what someone typed. */
const SHORT_CHARS = 1500;
const INTRO_CHARS = 400;

/** Splits a user text. A text of up to 1,500 characters is all asked. */
export function splitPasted(text: string): PastedText {
  const end = text.trimEnd().length;
  const last = text.lastIndexOf('\n\n', end - 1);
  if (text.length <= SHORT_CHARS || last < 0) return { intro: '', pasted: '', asked: text };
  const first = text.indexOf('\n\n');
  const introEnd = first > 0 && first <= INTRO_CHARS && first + 2 < last ? first + 2 : 0;
  return {
    intro: text.slice(0, introEnd),
    pasted: text.slice(introEnd, last),
    asked: text.slice(last),
  };
}
