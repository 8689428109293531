/** Terminal sequences, which say nothing about what a text is and mean nothing to a reader. */

// CSI sequences, OSC sequences with their terminator, and two-byte escapes.
const ANSI =
  // oxlint-disable-next-line no-control-regex -- terminal sequences begin with a control character
  /\u001b(?:\[[0-9;?]{0,32}[ -/]?[@-~]|\][^\u0007\u001b]{0,400}(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

/** Returns the text as a terminal shows it, without its colours and links. */
export function withoutColours(text: string): string {
  return text.includes('\u001b') ? text.replace(ANSI, '') : text;
}
