/**
 * The question that a text is taken to be read for. In a conversation there always is one, and
 * prose is shortened by it: without one a preview would show that nothing is.
 */

/** So far a title is looked for, in characters. */
const SEEN = 4000;
const HEADING = /^#{1,6}[ \t]+(?<title>\S.{0,120})$/m;
const MAX_TITLE = 120;

/** Asks what `text`, of a file called `name`, says about its own title: its first heading or line. */
export function assumedQuestion(text: string, name: string): string {
  const seen = text.slice(0, SEEN);
  const title = HEADING.exec(seen)?.groups?.['title'] ?? seen.trimStart().split('\n', 1)[0]!;
  return `What does ${name} say about ${title.slice(0, MAX_TITLE).trim()}?`;
}
