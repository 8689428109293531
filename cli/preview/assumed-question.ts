/**
 * The question that a text is taken to be read for. In a conversation there always is one, and
 * prose is shortened by it: without one a preview would show that nothing is.
 */

/** So far a title is looked for, in characters. */
const SEEN = 4000;
const HEADING = /^#{1,6}[ \t]+(?<title>\S.{0,120})$/m;
const MAX_TITLE = 120;

/**
 * Asks what is said about the title of `text`: its first heading or line. The file is not named,
 * for prose that a question names is sent whole.
 */
export function assumedQuestion(text: string): string {
  const seen = text.slice(0, SEEN);
  const title = HEADING.exec(seen)?.groups?.['title'] ?? seen.trimStart().split('\n', 1)[0]!;
  return `What is said about ${title.slice(0, MAX_TITLE).trim()}?`;
}
