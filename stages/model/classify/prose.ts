/**
 * Evidence of prose, in any script: lines of words separated by spaces, with ends of sentences
 * among them. Rows, names, usage texts and code have words too, but no sentences.
 */

/** What one line is: prose, part of a document's layout, or evidence against prose. */
export type LineKind = 'prose' | 'layout' | 'other';

/** How much of a line is searched for words. */
const MAX_LINE_CHARS = 300;
const MIN_WORDS = 5;
const MIN_LETTERS = 12;
/** Minimum share of plain words. */
const PLAIN_SHARE = 0.75;

const LAYOUT =
  /^\s*(?:#{1,6} |[=~^*_-]{3,}\s*$|[-*+•–] |\(?\d{1,3}[.)] |>(?!>> )|\||\[!?\[|\[[^\]]{1,80}\]:|!\[|<[/!a-zA-Z]|\.\. |:{1,3}[a-z-]|:::|!!! |```|~~~)/;
/** Prefixes of comments, changed lines and other marked rows. */
const MARKED_ROW = /^\s*(?:\/\/|\/\*|\*\/|[#;%]|--|" |dnl |rem |[<>+|!@$&=\\{}])/i;
/** Gaps as in columns, not those after a sentence. */
const COLUMNS = /\t|[^\s.!?:;] {2,}\S|[.!?:;] {3,}\S/;
/** Two commas or semicolons with no space after them. */
const CELLS = /[,;](?=[^\s\d])[^\s,;][^,;]*[,;](?=\S)|[,;]\d[^,;]*[,;](?=[^\s\d])/;
const PLAIN =
  /^[("'“‘«„¿¡[*_`]{0,4}\p{L}[\p{L}\p{M}\p{N}'’‑-]{0,40}[.,;:!?…)\]"'”’»*_`。، ؛؟]{0,5}$/u;
const NUMBER = /^[($€£~]{0,2}\d[\d.,]{0,12}(?:%|[a-z]{1,3})?[.,;:)]{0,3}$/;
const DASH = /^[–—-]$/;
/** Scripts that put no spaces between words. */
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/gu;
const SENTENCE_END =
  /[\p{L}\p{M}\p{N})\]"'”’»`*_%][.!?…](?=["'”’»)\]*_`]{0,3}(?:\s|$))|[。！？؟۔।॥։።]|[ฯๆ] /gu;
const CLAUSE_MARK = /[，、。；：！？]/;

/** Returns what a line is: words separated by spaces, or in a script without spaces, are prose. */
export function classifyLine(line: string): LineKind {
  const start = line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line;
  if (LAYOUT.test(start)) return 'layout';
  const text = start.trim();
  if (MARKED_ROW.test(text) || COLUMNS.test(text) || CELLS.test(text)) return 'other';
  const unspaced = text.match(UNSPACED_SCRIPT)?.length ?? 0;
  if (unspaced >= text.length * 0.5)
    return unspaced >= MIN_LETTERS && CLAUSE_MARK.test(text) ? 'prose' : 'other';
  return isWordy(text, line.length > MAX_LINE_CHARS) ? 'prose' : 'other';
}

function isWordy(text: string, cut: boolean): boolean {
  const words = text.split(/\s+/);
  if (cut) words.pop();
  if (words.length < MIN_WORDS) return false;
  let plain = 0;
  for (const word of words) if (PLAIN.test(word) || NUMBER.test(word) || DASH.test(word)) plain++;
  return plain >= words.length * PLAIN_SHARE && /\p{Ll}|\p{Lo}/u.test(text);
}

/** Counts the sentences that end in a line. */
function sentenceEnds(line: string): number {
  return line.match(SENTENCE_END)?.length ?? 0;
}

/** Returns true if there is positive evidence that the lines consist of sentences. */
export function looksLikeProse(lines: readonly string[]): boolean {
  const counts = { prose: 0, layout: 0, other: 0 };
  let ends = 0;
  for (const line of lines) {
    const kind = classifyLine(line);
    counts[kind] += line.length;
    if (kind === 'prose') ends += sentenceEnds(line);
  }
  // A sentence has about 20 words, some 120 characters; few exceed 400.
  const { prose, layout, other } = counts;
  return ends > 0 && ends * 400 >= prose && prose + layout * 0.5 >= other && prose * 12 >= layout;
}
