/** Finds the line of a plugin's source that a fault is about, if the source shows it plainly. */

/**
 * Returns the line, from 1, of the key that `path` ends in: each name of it is searched after the
 * one before. A name that occurs more than once could be the wrong one and is skipped, as are list
 * indexes. Undefined if no name is found.
 */
export function lineOfPath(source: string, path: readonly string[]): number | undefined {
  let from = 0;
  let found: number | undefined;
  for (const name of path.filter((one) => !/^\d+$/.test(one))) {
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const key = new RegExp(`(?<![\\w$-])['"]?${escaped}['"]?\\s*[:(,}]`, 'g');
    const matches = [...source.slice(from).matchAll(key)];
    const [first] = matches;
    if (first === undefined || matches.length > 1) continue;
    found = from + first.index;
    from = found + first[0].length;
  }
  return found === undefined ? undefined : source.slice(0, found).split('\n').length;
}

/** Returns the line, from 1, of the quoted text; undefined unless it occurs exactly once. */
export function lineOfText(source: string, text: string): number | undefined {
  const lines = source.split('\n');
  const quoted = ["'", '"', '`'].map((mark) => `${mark}${text}${mark}`);
  const found = lines.flatMap((line, index) =>
    quoted.some((one) => line.includes(one)) ? [index + 1] : [],
  );
  return found.length === 1 ? found[0] : undefined;
}
