/** Colour codes, which say nothing about what a text is. */

// oxlint-disable-next-line no-control-regex -- terminal sequences begin with a control character
const ANSI = /\u001b(?:\[[0-9;?]{0,32}[A-Za-z]|\][^\u0007\u001b]{0,400}(?:\u0007|\u001b\\))/g;

/** The text as a terminal shows it, without its colours and links. */
export function withoutColours(text: string): string {
  return text.includes('\u001b') ? text.replace(ANSI, '') : text;
}
