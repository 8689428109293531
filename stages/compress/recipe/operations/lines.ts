/** Operations that change the inside of lines. Protected lines are never changed. */
import { withoutColours } from '../../../model/classify/colours.ts';
import { operation, type Operation } from '../operation.ts';
import { changeRows, type Row } from '../rows.ts';

/** The first line of an example whose lines were changed. */
const note = (count: number): string =>
  `[svc recipe x shortened ${count} of the lines below; the source is complete]\n`;

/** Fewer texts than this cannot show which one is unusual. */
const MIN_TEXTS = 8;
/** Minimum share of texts with the usual wording. */
const MIN_USUAL_SHARE = 0.8;
/** Maximum share of texts with an unusual wording. */
const MAX_UNUSUAL_SHARE = 0.1;

/**
 * Returns a test for texts with a rare wording among many of a common one, such as a single owner
 * among hundreds of lines.
 */
function createRareTest(texts: readonly string[]): (text: string) => boolean {
  const wordingOf = (text: string): string => text.replace(/\d+/g, '#').replace(/\s+/g, ' ');
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(wordingOf(text), (counts.get(wordingOf(text)) ?? 0) + 1);
  const max = Math.max(0, ...counts.values());
  if (texts.length < MIN_TEXTS || max < texts.length * MIN_USUAL_SHARE) return () => false;
  return (text) => (counts.get(wordingOf(text)) ?? 0) <= texts.length * MAX_UNUSUAL_SHARE;
}

/** Defines an operation that replaces all values of one kind by something shorter. */
function normaliser(
  what: string,
  expression: RegExp,
  standsFor: string,
  [before, after]: readonly [string, string],
): Operation {
  return operation({
    about: `Writes \`${standsFor}\` in the place of ${what}.`,
    loss: 'text',
    params: {},
    example: { with: {}, before, after: `${note(1)}${after}` },
    run: (rows) =>
      changeRows(rows, (line) => changeStart(line, (seen) => seen.replace(expression, standsFor))),
  });
}

/** Returns `at`, or the offset before it where `at` would split a surrogate pair. */
const characterStart = (line: string, at: number): number =>
  /^[\udc00-\udfff]$/.test(line.charAt(at)) && at > 0 ? at - 1 : at;

const WORD = /[\p{L}\p{N}_$]/u;
/** Words up to this length are not cut, in characters. */
const WORD_CHARS = 80;

/**
 * Returns the nearest offset from `at` in direction `step` that splits no word; `at` itself where
 * the word is too long.
 */
function wordBoundary(line: string, at: number, step: 1 | -1): number {
  const splitsWord = (offset: number): boolean =>
    WORD.test(line.charAt(offset - 1)) && WORD.test(line.charAt(offset));
  for (let offset = at; offset !== at + step * WORD_CHARS; offset += step) {
    if (offset <= 0 || offset >= line.length) return at;
    if (!splitsWord(offset)) return offset;
  }
  return at;
}

/** Only this many characters at the start of a line are changed. */
const MAX_CHANGED_CHARS = 2000;

function changeStart(line: string, change: (seen: string) => string): string {
  return line.length <= MAX_CHANGED_CHARS
    ? change(line)
    : change(line.slice(0, MAX_CHANGED_CHARS)) + line.slice(MAX_CHANGED_CHARS);
}

export const lineOperations = {
  truncate_lines: operation({
    about:
      'Cuts the middle out of lines longer than a given number of characters, at word boundaries.',
    loss: 'text',
    params: {
      most: { kind: 'count', about: 'Longest line that stays whole', min: 20 },
      tail: { kind: 'count', about: 'Characters kept at its end', default: 0 },
    },
    example: {
      with: { most: 20, tail: 5 },
      before: 'var a=1;var b=2;var c=3;var d=4;var e=5;end()',
      after: `${note(1)}var a=1;var b=2… 25 characters …end()`,
    },
    run: (rows, { most, tail }) =>
      changeRows(rows, (line) => {
        if (line.length <= most + 20) return line;
        const last = Math.min(tail, most);
        const start = line.slice(0, characterStart(line, wordBoundary(line, most - last, -1)));
        const end = line.slice(characterStart(line, wordBoundary(line, line.length - last, 1)));
        return `${start}… ${line.length - start.length - end.length} characters …${end}`;
      }),
  }),
  cut_columns: operation({
    about: 'Removes the characters from one column to another.',
    loss: 'text',
    params: {
      from: { kind: 'count', about: 'First column removed, counted from 1', min: 1 },
      to: { kind: 'count', about: 'Last column removed', min: 1 },
    },
    example: {
      with: { from: 1, to: 9 },
      before: '12:00:01 started\n12:00:02 done',
      after: `${note(2)}started\ndone`,
    },
    run: (rows, { from, to }) =>
      changeRows(rows, (line) => line.slice(0, from - 1) + line.slice(to)),
  }),
  drop_fields: operation({
    about: 'Removes fields from delimited lines; fields are counted from 1.',
    loss: 'text',
    params: {
      fields: { kind: 'names', about: 'Field numbers, as strings' },
      separator: { kind: 'text', about: 'Delimiter', default: '\t' },
    },
    example: {
      with: { fields: ['2'], separator: ',' },
      before: 'id,made,name\n7,2026-01-01,shop',
      after: `${note(2)}id,name\n7,shop`,
    },
    run: (rows, { fields, separator }) =>
      changeRows(rows, (line) =>
        line
          .split(separator)
          .filter((_, at) => !fields.includes(String(at + 1)))
          .join(separator),
      ),
  }),
  replace_text: operation({
    about: 'Replaces one literal text with another.',
    loss: 'text',
    params: {
      text: { kind: 'text', about: 'What is replaced' },
      with: { kind: 'text', about: 'Replacement', default: '' },
    },
    example: {
      with: { text: '/home/me/work/shop/', with: '' },
      before: 'error in /home/me/work/shop/src/a.ts',
      after: `${note(1)}error in src/a.ts`,
    },
    run: (rows, given) =>
      given.text === ''
        ? rows
        : changeRows(rows, (line) => line.replaceAll(given.text, () => given.with)),
  }),
  strip_match: operation({
    about:
      'Removes the first match of a pattern from each line. If nearly all lines lose the same text apart from numbers, lines that would lose something else are left whole.',
    loss: 'text',
    params: { pattern: { kind: 'patterns', about: 'What to remove' } },
    example: {
      with: { pattern: '^\\[\\d+/\\d+\\] ' },
      before: '[1/2] linking app\nwarning: x',
      after: `${note(1)}linking app\nwarning: x`,
    },
    run(rows, { pattern }) {
      const matchOf = (line: string): RegExpExecArray | undefined => {
        for (const match of pattern.matchesIn(line)) if (match[0] !== '') return match;
        return undefined;
      };
      const isUnlike = createRareTest(
        rows.flatMap(({ text, at, isProtected }) =>
          isProtected === true || at === undefined ? [] : (matchOf(text)?.[0] ?? []),
        ),
      );
      return changeRows(rows, (line) => {
        const match = matchOf(line);
        if (match === undefined || isUnlike(match[0])) return line;
        // Patterns match the line without its colours.
        const plain = withoutColours(line);
        return plain.slice(0, match.index) + plain.slice(match.index + match[0].length);
      });
    },
  }),
  normalise_timestamps: normaliser(
    'dates with a time of day',
    /\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?/g,
    '<time>',
    ['2026-01-02T03:04:05.678Z started', '<time> started'],
  ),
  normalise_uuids: normaliser(
    'UUIDs',
    /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi,
    '<uuid>',
    ['job 123e4567-e89b-12d3-a456-426614174000 done', 'job <uuid> done'],
  ),
  normalise_hashes: normaliser(
    'hashes of 32 to 128 hex digits',
    /\b[\da-f]{32,128}\b/gi,
    '<hash>',
    ['pulled 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'pulled <hash>'],
  ),
  normalise_addresses: normaliser('memory addresses', /\b0x[\da-f]{6,16}\b/gi, '<address>', [
    '<Shop object at 0x7f3c2a1b9d60>',
    '<Shop object at <address>>',
  ]),
  normalise_durations: normaliser(
    'spans of time',
    /\b\d{1,9}(?:\.\d{1,9})? ?(?:ms|µs|us|ns|s|sec|seconds|min|minutes)\b/g,
    '<duration>',
    ['built in 12.5 ms', 'built in <duration>'],
  ),
  normalise_paths: operation({
    about: 'Replaces leading folders of paths with another text, such as a dot.',
    loss: 'text',
    params: {
      folders: { kind: 'names', about: 'The folders, with a trailing slash' },
      with: { kind: 'text', about: 'Replacement', default: './' },
    },
    example: {
      with: { folders: ['/usr/lib/python3/dist-packages/'], with: '…/' },
      before: 'File "/usr/lib/python3/dist-packages/six.py"',
      after: `${note(1)}File "…/six.py"`,
    },
    run: (rows, given) =>
      changeRows(rows, (line) =>
        given.folders.reduce((one, folder) => one.replaceAll(folder, () => given.with), line),
      ),
  }),
  join_wrapped: operation({
    about: 'Joins continuation lines, which a pattern matches, to the line before.',
    loss: 'text',
    params: { pattern: { kind: 'patterns', about: 'Lines that continue the one before' } },
    example: {
      with: { pattern: '^ {4}\\S' },
      before: 'Depends: a,\n    b,\n    c\nSize: 3',
      after: `${note(1)}Depends: a, b, c\nSize: 3`,
    },
    run: (rows, { pattern }) => joinContinued(rows, pattern.test),
  }),
};

function joinContinued(
  rows: readonly Row[],
  isContinuation: (line: string) => boolean,
): readonly Row[] {
  const out: Row[] = [];
  for (const row of rows) {
    const last = out.at(-1);
    if (
      last === undefined ||
      last.isProtected === true ||
      row.isProtected === true ||
      row.at === undefined ||
      last.at === undefined ||
      !isContinuation(row.text)
    ) {
      out.push(row);
      continue;
    }
    const covers = [...(last.covers ?? []), row.at];
    out[out.length - 1] = { ...last, text: `${last.text} ${row.text.trim()}`, covers };
  }
  return out.length === rows.length ? rows : out;
}
