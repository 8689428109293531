/**
 * The question that a previewed text is assumed to answer. A conversation always has one, and prose
 * is shortened by it: without a question a preview would show no shortening.
 */

/** Characters within which a title is searched. */
const TITLE_SEARCH_CHARS = 4000;
const HEADING = /^#{1,6}[ \t]+(?<title>\S.{0,120})$/m;
const MAX_TITLE = 120;

/**
 * Returns a question about the title of `text`: its first heading or line. The file is not named,
 * since prose that a question names is sent in full.
 */
export function assumedQuestion(text: string): string {
  const seen = text.slice(0, TITLE_SEARCH_CHARS);
  const title = HEADING.exec(seen)?.groups?.['title'] ?? seen.trimStart().split('\n', 1)[0]!;
  return `What is said about ${title.slice(0, MAX_TITLE).trim()}?`;
}
