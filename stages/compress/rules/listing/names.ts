/**
 * Folds names into braces, as a shell expands them. Order is kept, or it is byte order and restored
 * by sorting.
 */

const MIN_SHARED = 3;
const MAX_ROW_CHARS = 400;
/** Longest group of names: keeps the search for groups linear. */
const MAX_GROUP = 100;

/** Prefix of a row whose names are sorted on decoding. Unambiguous: no name ends in a colon. */
const SORTED_PREFIX = 'sorted: ';
const MIN_SORTED = 6;

/** Returns rows of names; names in byte order are grouped by extension if that is shorter. */
export function braceRows(names: readonly string[]): readonly string[] {
  const plain = orderedRows(names);
  if (names.length < MIN_SORTED || !names.every((name, at) => at === 0 || names[at - 1]! < name))
    return plain;
  const byExtension = new Map<string, string[]>();
  for (const name of names) {
    const ending = extension(name);
    byExtension.set(ending, [...(byExtension.get(ending) ?? []), name]);
  }
  const sorted =
    SORTED_PREFIX + [...byExtension.values()].flatMap((group) => orderedRows(group)).join(' ');
  return sorted.length < plain.join('\n').length ? [sorted] : plain;
}

function orderedRows(names: readonly string[]): string[] {
  const rows: string[] = [];
  let row = '';
  for (let at = 0; at < names.length;) {
    const group = bestGroup(names, at);
    const piece =
      group.count < 2
        ? names[at]!
        : `${group.prefix}{${names
            .slice(at, at + group.count)
            .map((name) => name.slice(group.prefix.length, name.length - group.suffix.length))
            .join(',')}}${group.suffix}`;
    at += Math.max(1, group.count);
    if (row !== '' && row.length + piece.length > MAX_ROW_CHARS) {
      rows.push(row);
      row = '';
    }
    row = row === '' ? piece : `${row} ${piece}`;
  }
  if (row !== '') rows.push(row);
  return rows;
}

interface Group {
  readonly prefix: string;
  readonly suffix: string;
  readonly count: number;
}

/** Returns the run of names from `at` whose shared prefix and suffix save most characters. */
function bestGroup(names: readonly string[], at: number): Group {
  const first = names[at]!;
  let best: Group = { prefix: '', suffix: '', count: 1 };
  let bestSaved = 0;
  let shortest = first.length;
  let prefix = wordStart(first, first.length - 1);
  let suffix = wordEnd(first, first.length - 1);
  for (let count = 2; at + count <= names.length && count <= MAX_GROUP; count++) {
    const name = names[at + count - 1]!;
    shortest = Math.min(shortest, name.length);
    prefix = wordStart(first, commonStart(prefix, name));
    suffix = wordEnd(first, Math.min(commonEnd(suffix, name), shortest - prefix.length));
    if (prefix.length + suffix.length < MIN_SHARED) break;
    const saved = (prefix.length + suffix.length) * (count - 1) - 3;
    if (saved > bestSaved) {
      best = { prefix, suffix, count };
      bestSaved = saved;
    }
  }
  return best;
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

/** Cuts `name` to `length`, back to a word end, so that groups read as names. */
function wordStart(name: string, length: number): string {
  let end = Math.min(length, name.length);
  while (end > 0 && !/[_\-./]/.test(name[end - 1]!)) end--;
  return name.slice(0, end);
}

function commonEnd(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length))
    length++;
  return length;
}

/** Returns the last `length` characters of `name`, trimmed to begin at a word end. */
function wordEnd(name: string, length: number): string {
  let start = name.length - Math.max(0, length);
  while (start < name.length && !/[_\-./]/.test(name[start]!)) start++;
  return name.slice(start);
}

function extension(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot) : name.endsWith('/') ? '/' : '';
}

/** Expands a row to its names. */
export function namesOf(row: string): readonly string[] {
  if (!row.startsWith(SORTED_PREFIX)) return row.split(' ').flatMap(expand);
  return row
    .slice(SORTED_PREFIX.length)
    .split(' ')
    .flatMap(expand)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

function expand(piece: string): string[] {
  const open = piece.indexOf('{');
  const close = piece.lastIndexOf('}');
  if (open < 0 || close < 0) return [piece];
  const prefix = piece.slice(0, open);
  const suffix = piece.slice(close + 1);
  return piece
    .slice(open + 1, close)
    .split(',')
    .map((middle) => prefix + middle + suffix);
}
