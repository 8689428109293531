/**
 * Removes insignificant white space in tool descriptions: shared indentation, trailing spaces, runs
 * of blank lines, two spaces after a sentence. Fenced text stays unchanged.
 */

const FENCE = /^\s*(?:```|~~~)/;
/** Text with these characters is an example or a table, whose spaces may be significant. */
const LITERAL = /[`"'|]/;
const AFTER_SENTENCE = /([.:;,!?)]) {2,}(?=\S)/g;

/** Tidies a description; words and line structure stay the same. Idempotent. */
export function tidyDescription(text: string): string {
  const lines = withoutSharedIndent(text.replaceAll('\r\n', '\n').split('\n'));
  const kept: string[] = [];
  let fence: string | undefined;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[0].trim();
    if (fence !== undefined) {
      kept.push(line);
      if (mark === fence) fence = undefined;
      continue;
    }
    fence = mark;
    const bare = line.trimEnd();
    if (bare === '' && (kept.length === 0 || kept.at(-1) === '')) continue;
    kept.push(
      fence !== undefined || LITERAL.test(bare) ? bare : bare.replaceAll(AFTER_SENTENCE, '$1 '),
    );
  }
  if (fence === undefined) while (kept.at(-1) === '') kept.pop();
  return kept.join('\n');
}

/**
 * Removes the shared indentation; after a summary and a blank line, that of the rest, as in a
 * docstring.
 */
function withoutSharedIndent(lines: readonly string[]): readonly string[] {
  const from = lines.findIndex((line) => line.trim() !== '');
  const [first = '', ...rest] = removeIndent(lines.slice(Math.max(from, 0)));
  return [first, ...(rest[0]?.trim() === '' ? removeIndent(rest) : rest)];
}

function removeIndent(lines: readonly string[]): readonly string[] {
  const own = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)![0].length);
  const shared = own.length === 0 ? 0 : Math.min(...own);
  return shared === 0 ? lines : lines.map((line) => line.slice(shared));
}
