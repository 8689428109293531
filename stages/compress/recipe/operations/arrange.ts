/** Operations on tables, and those that reorder or reformat lines. */
import { MARK } from '../../text/marker.ts';
import { replaceRanges, runsOf } from '../../text/ranges.ts';
import { withoutColumns } from '../columns.ts';
import { operation } from '../operation.ts';
import { replaceRows, textOf, type Row } from '../rows.ts';

/** Longest table line that is inspected, in characters. */
const TABLE_CHARS = 2000;
const RULER = /^\s*[+|┌├└╞╠╔╚][-+=|:─┬┼┴═╪╬┐┤┘╡╣╗╝ ]*$/;

export const arrangeOperations = {
  compact_table: operation({
    about:
      'A table drawn with lines and padding becomes cells divided by " | ", without its rulers.',
    loss: 'none',
    params: {},
    example: {
      with: {},
      before: '+----+--------+\n| id | name   |\n+----+--------+\n| 7  | shop   |\n+----+--------+',
      after: 'id | name\n7 | shop',
    },
    run(rows) {
      const isRuler = ({ text }: Row): boolean => text.length < TABLE_CHARS && RULER.test(text);
      return withoutRulers(rows, isRuler).map((row) =>
        row.isProtected === true ? row : { ...row, text: cellsOf(row.text) },
      );
    },
  }),
  group_by: operation({
    about:
      "Groups lines that begin with the same value of the pattern's first group under that value. Nothing is lost.",
    loss: 'none',
    params: {
      pattern: {
        kind: 'patterns',
        about: 'Start of the lines; the whole match is removed from each',
      },
    },
    example: {
      with: { pattern: '^([^:]+):' },
      before: 'src/a.ts:1: x\nsrc/a.ts:9: y\nsrc/a.ts:12: z\nend',
      after:
        '[svc indented lines begin with the line above that is not, to the letter]\nsrc/a.ts:\n\t1: x\n\t9: y\n\t12: z\nend',
    },
    run: (rows, { pattern }) =>
      groupByPrefix(rows, (line) => {
        // A line that has this prefix only once its colours are stripped would lose something.
        for (const { 0: found, index } of pattern.matchesIn(line))
          if (index === 0 && line.startsWith(found)) return found;
        return undefined;
      }),
  }),
  narrow_table: operation({
    about:
      'Removes the named columns, empty columns and padding from a table with an upper-case header, such as that of docker ps; cells, including empty ones, are separated by bars.',
    loss: 'text',
    params: { drop: { kind: 'names', about: 'Names of the columns to remove', default: ['-'] } },
    example: {
      with: { drop: ['AGE'] },
      before:
        'NAME      AGE    PORTS    STATUS\napi-1     2d              Running\napi-2     2d     80       Running\ndb        9d     5432     Failed\ncache     1d     6379     Running',
      after: `${MARK}recipe x shortened 5 of the lines below; the source is complete]\nNAME | PORTS | STATUS\napi-1 |  | Running\napi-2 | 80 | Running\ndb | 5432 | Failed\ncache | 6379 | Running`,
    },
    run: (rows, { drop }) => withoutColumns(rows, drop),
  }),
  sort_unique: operation({
    about: 'Sorts the lines and removes duplicates.',
    loss: 'text',
    params: {},
    example: {
      with: {},
      before: 'b\na\nb\na\na',
      after: '[svc recipe x shortened these 5 lines; the source is complete]\na\nb',
    },
    run(rows) {
      if (rows.some(({ isProtected }) => isProtected === true)) return rows;
      const lines = [...new Set(rows.map(({ text }) => text))].toSorted((a, b) => (a < b ? -1 : 1));
      return lines.length === rows.length ? rows : replaceRows(rows, lines.join('\n'), 'text');
    },
  }),
  html_text: operation({
    about:
      'HTML becomes its text: scripts, styles, comments and tags go; links keep their address.',
    loss: 'text',
    params: {},
    example: {
      with: {},
      before:
        '<html><head><style>p{}</style></head><body><p>See <a href="/x">this</a>.</p></body></html>',
      after: '[svc recipe x shortened this line; the source is complete]\nSee this (/x).',
    },
    run(rows) {
      const text = textOf(rows);
      if (!/<(?:!doctype|html|body|div|p|table|a)\b/i.test(text.slice(0, 4000))) return rows;
      return replaceRows(rows, htmlText(text), 'text');
    },
  }),
};

/** Drops rulers; they can be redrawn from the rows beside them, which therefore cover them. */
function withoutRulers(rows: readonly Row[], isRuler: (row: Row) => boolean): readonly Row[] {
  const out: Row[] = [];
  let covers: number[] = [];
  for (const row of rows) {
    if (row.isProtected === true || row.at === undefined || !isRuler(row)) {
      out.push(covers.length === 0 ? row : { ...row, covers: [...(row.covers ?? []), ...covers] });
      covers = [];
    } else covers.push(row.at);
  }
  const last = out.at(-1);
  if (last === undefined) return rows;
  if (covers.length > 0)
    out[out.length - 1] = { ...last, covers: [...(last.covers ?? []), ...covers] };
  return out;
}

function cellsOf(text: string): string {
  if (text.length > TABLE_CHARS || !/^\s*[|│║]/.test(text)) return text;
  return text
    .trim()
    .slice(1, -1)
    .split(/[|│║]/)
    .map((cell) => cell.trim())
    .join(' | ');
}

/** Indents three or more lines with the same prefix below that prefix. */
function groupByPrefix(
  rows: readonly Row[],
  groupOf: (line: string) => string | undefined,
): readonly Row[] {
  if (rows.some(({ text, at }) => at === undefined || text.startsWith('\t'))) return rows;
  const names = rows.map(({ text, isProtected }) =>
    isProtected === true ? undefined : groupOf(text),
  );
  const groups = runsOf(names, (name) => name, 3);
  if (groups.length === 0) return rows;
  return [
    { text: `${MARK}indented lines begin with the line above that is not, to the letter]` },
    ...replaceRanges(rows, groups, ({ from, to }) => {
      const text = names[from]!;
      const below = rows.slice(from, to);
      return [
        { text },
        ...below.map((row) => ({ ...row, text: `\t${row.text.slice(text.length)}` })),
      ];
    }),
  ];
}

const HIDDEN_ELEMENTS = ['script', 'style', 'noscript', 'svg', 'head', 'template'];
/** Elements that a browser shows on lines of their own. */
const BLOCK_ELEMENTS =
  /^(?:p|div|br|hr|li|dt|dd|tr|h[1-6]|table|caption|ul|ol|dl|section|article|aside|header|footer|main|nav|form|fieldset|legend|details|summary|figure|figcaption|blockquote|address|pre|title|option)$/;
/** Inline elements that are set apart from their neighbours. */
const INLINE_CONTROLS = /^(?:td|th|button|input|label|select|textarea)$/;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
};

/** Returns true if `<` opens a tag; before any other character it is text. */
const isTag = (html: string, at: number): boolean => /^[a-z/!?]$/i.test(html.charAt(at + 1));

function htmlText(html: string): string {
  const lower = html.toLowerCase();
  const unclosed = new Set<string>();
  let out = '';
  let href: string | undefined;
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    out += html.slice(at, open < 0 ? html.length : open);
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    const close = isTag(html, open) ? html.indexOf('>', open) : -1;
    if (close < 0) {
      out += '<';
      at = open + 1;
      continue;
    }
    const tag = html.slice(open, close + 1);
    const name = /^<\/?([a-z][a-z0-9]{0,20})/i.exec(tag)?.[1]?.toLowerCase() ?? '';
    at = close + 1;
    if (HIDDEN_ELEMENTS.includes(name) && !tag.startsWith('</')) {
      // A closing tag that is missing is searched for only once.
      const end = unclosed.has(name) ? -1 : lower.indexOf(`</${name}`, at);
      if (end < 0) unclosed.add(name);
      else at = html.indexOf('>', end) + 1 || html.length;
    } else if (name === 'a') {
      if (tag.startsWith('</')) {
        if (href !== undefined) out += ` (${href})`;
        href = undefined;
      } else href = /\bhref="([^"]{1,500})"/i.exec(tag.slice(0, 1000))?.[1];
    } else if (BLOCK_ELEMENTS.test(name)) out += '\n';
    else if (INLINE_CONTROLS.test(name)) out += ' ';
  }
  const rewritten = out.replaceAll(
    /&(#39|[a-z]{2,5});/g,
    (whole, name: string) => ENTITIES[name] ?? whole,
  );
  return rewritten
    .split('\n')
    .map((line) => line.replaceAll(/[ \t]+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
