/** Rows of `ls -l`: mode, links, owner and group get a letter, so do dates; padding is computed again. */

const ROW =
  /^([bcdlps-][rwxsStT-]{9}[+@.]?)( +)(\d+) (\S+)( +)(\S+)( +)(\d+) (\w{3} [ \d]\d [ \d:]\d{4}|\w{3} [ \d]\d \d\d:\d\d|\d{4}-\d\d-\d\d \d\d:\d\d) (.+)$/s;
const KIND_LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DATE_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Rows in short form, and the legend that their letters refer to. */
export interface ShortRows {
  readonly legend: string;
  readonly lines: readonly string[];
}

interface Row {
  readonly kind: string;
  readonly size: string;
  readonly date: string;
  readonly name: string;
}

/** Short rows, or undefined where the lines are no `ls -l` or use more than 26 kinds of owner and mode. */
export function shortenRows(lines: readonly string[]): ShortRows | undefined {
  const matches = lines.map((line) => (line.length < 500 ? ROW.exec(line) : null));
  const found = matches.filter((match) => match !== null);
  if (found.length < 3) return undefined;
  const rows = matches.map((match) => (match === null ? undefined : toRow(match)));
  const kinds = distinct(rows, (row) => row.kind, 1);
  const dates = distinct(rows, (row) => row.date, 3).slice(0, DATE_LETTERS.length);
  if (kinds.length > KIND_LETTERS.length) return undefined;
  const short = rows.map((row, at) => {
    if (row === undefined) return `\t${lines[at]!}`;
    const letter = KIND_LETTERS[kinds.indexOf(row.kind)]!;
    const known = dates.indexOf(row.date);
    return known < 0
      ? `${letter} ${row.size} ${row.date} ${row.name}`
      : `${letter}${DATE_LETTERS[known]} ${row.size} ${row.name}`;
  });
  const legend = [
    ...kinds.map((kind, at) => `${KIND_LETTERS[at]}=${kind}`),
    ...dates.map((date, at) => `${DATE_LETTERS[at]}=${date}`),
    `width ${Math.max(...found.map((match) => match[8]!.length))}`,
  ];
  return { legend: legend.join(', '), lines: short };
}

/** What a row is made of; the kind keeps its own padding, so that none has to be computed for it. */
function toRow(match: RegExpExecArray): Row {
  const [, mode, gap, links, owner, ownerGap, group] = match;
  const kind = `${mode}${gap}${links} ${owner}${ownerGap}${group}`;
  return { kind, size: match[8]!, date: match[9]!, name: match[10]! };
}

function distinct(
  rows: readonly (Row | undefined)[],
  of: (row: Row) => string,
  atLeast: number,
): string[] {
  const counts = new Map<string, number>();
  for (const row of rows)
    if (row !== undefined) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= atLeast).map(([value]) => value);
}

/** The rows that `shortenRows` was given; wrong where padding was irregular, which the caller checks. */
export function widenRows(legend: string, lines: readonly string[]): string[] {
  const entries = legend.split(', ');
  const width = Number(entries.pop()?.slice('width '.length));
  const meaning = new Map(entries.map((entry) => [entry[0]!, entry.slice(2)]));
  return lines.map((line) => {
    const row = /^([a-z])([A-Z]?) (\d+) (.+)$/s.exec(line);
    const kind = row === null ? undefined : meaning.get(row[1]!);
    if (row === null || kind === undefined) return line.slice(1);
    const date = row[2] === '' ? '' : `${meaning.get(row[2]!)} `;
    return `${kind} ${row[3]!.padStart(width)} ${date}${row[4]}`;
  });
}
