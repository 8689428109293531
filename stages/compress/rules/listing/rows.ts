/**
 * Shortens rows of `ls -l`: mode, owner and group become a letter, and so do dates; padding is
 * recomputed. A number after a letter is the link count, if it differs from most rows of the same
 * kind.
 */

/**
 * Modes, links, owner, group, size, time or year, name; as GNU and BSD print them, in any locale.
 */
const ROW =
  /^([bcdlps-][rwxsStT-]{9}[+@.]?)( +\d+) (\S+ +\S+)( +)(\d[\d.,]*[KMGTPE]?i?B?) ( ?(?:[\p{L}\d.-]{1,12} +){1,2}?(?:\d\d:\d\d(?::\d\d(?:\.\d{1,9})?(?: [+-]?\d{4})?)?|\d{4})) (.+)$/su;
const SHORT = /^([a-z])(\d*)([A-Z]?) (\S+) (.+)$/s;
const KIND_LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DATE_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Widths of the padded columns: mode with links, group with size. */
const WIDTHS = /^widths (\d+) (\d+)$/;

/** Rows in short form, and the legend of their letters. */
export interface ShortRows {
  readonly legend: string;
  readonly lines: readonly string[];
}

interface Row {
  readonly kind: Kind;
  readonly links: string;
  readonly size: string;
  readonly date: string;
  readonly name: string;
  /** Column widths, in characters. */
  readonly modeWidth: number;
  readonly sizeWidth: number;
}

/** Mode and owner, `-rw-r--r--` and `me staff`, with the spaces between owner and group. */
type Kind = `${string}\t${string}`;

/**
 * Returns short rows; undefined if the lines are no `ls -l` or have over 26 kinds of owner and
 * mode.
 */
export function shortenRows(lines: readonly string[]): ShortRows | undefined {
  const rows = lines.map((line) => (line.length < 500 ? toRow(ROW.exec(line)) : undefined));
  const found = rows.filter((row) => row !== undefined);
  if (found.length < 3) return undefined;
  const kinds = [...countsOf(found.map((row) => row.kind)).keys()];
  const dates = [...countsOf(found.map((row) => row.date))]
    .flatMap(([date, count]) => (count < 3 ? [] : [date]))
    .slice(0, DATE_LETTERS.length);
  if (kinds.length > KIND_LETTERS.length) return undefined;
  const usual = kinds.map((kind) =>
    mostFrequent(found.flatMap((row) => (row.kind === kind ? [row.links] : []))),
  );
  const short = rows.map((row, at) => {
    if (row === undefined) return `\t${lines[at]!}`;
    const kind = kinds.indexOf(row.kind);
    const links = row.links === usual[kind] ? '' : row.links;
    const date = dates.indexOf(row.date);
    const start = `${KIND_LETTERS[kind]!}${links}${DATE_LETTERS[date] ?? ''} ${row.size}`;
    return date < 0 ? `${start} ${row.date} ${row.name}` : `${start} ${row.name}`;
  });
  const other = found.find((row) => row.links !== usual[kinds.indexOf(row.kind)]);
  const letter = KIND_LETTERS[other === undefined ? 0 : kinds.indexOf(other.kind)]!;
  const legend = [
    ...kinds.map((kind, at) => `${KIND_LETTERS[at]}=${kind.replace('\t', ` ${usual[at]} `)}`),
    ...dates.map((date, at) => `${DATE_LETTERS[at]}=${date}`),
    ...(other === undefined ? [] : [`${letter}${other.links}=${letter} with ${other.links} links`]),
    `widths ${found[0]!.modeWidth} ${found[0]!.sizeWidth}`,
  ];
  return { legend: legend.join(', '), lines: short };
}

function toRow(match: RegExpExecArray | null): Row | undefined {
  if (match === null) return undefined;
  const [, mode = '', links = '', owners = '', gap = '', size = '', date = '', name = ''] = match;
  return {
    kind: `${mode}\t${owners}`,
    links: links.trim(),
    size,
    date,
    name,
    modeWidth: mode.length + links.length,
    sizeWidth: groupOf(owners).length + gap.length + size.length,
  };
}

const groupOf = (owners: string): string => owners.slice(owners.lastIndexOf(' ') + 1);

function countsOf<T>(values: readonly T[]): ReadonlyMap<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function mostFrequent(values: readonly string[]): string {
  const [most] = [...countsOf(values)].toSorted(([, one], [, other]) => other - one);
  return most![0];
}

/**
 * Restores the rows given to `shortenRows`. The result is wrong if the padding was irregular, which
 * the caller checks.
 */
export function widenRows(legend: string, lines: readonly string[]): string[] {
  const entries = legend.split(', ');
  const [, modeWidth, sizeWidth] = WIDTHS.exec(entries.pop() ?? '') ?? [];
  const meaning = new Map(
    entries.map((entry) => [
      entry.slice(0, entry.indexOf('=')),
      entry.slice(entry.indexOf('=') + 1),
    ]),
  );
  return lines.map((line) => {
    const [, letter = '', links, dateLetter = '', size = '', rest = ''] = SHORT.exec(line) ?? [];
    const [, mode, usual, owners] = /^(\S+) (\d+) (.+)$/s.exec(meaning.get(letter) ?? '') ?? [];
    if (mode === undefined || owners === undefined) return line.slice(1);
    const number = (links || usual)!.padStart(Number(modeWidth) - mode.length);
    const padded = size.padStart(Number(sizeWidth) - groupOf(owners).length);
    const date = dateLetter === '' ? '' : `${meaning.get(dateLetter)} `;
    return `${mode}${number} ${owners}${padded} ${date}${rest}`;
  });
}
