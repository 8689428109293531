/**
 * The outline of a long text: definitions in code, headings, otherwise the least indented lines.
 */
import type { Classification } from '../../../model/classify/classes.ts';
import type { Definition, Definitions } from '../../rules/code/definitions.ts';

/**
 * A line, or a few, that introduce the lines below them: a definition in code, otherwise a heading
 * or the like.
 */
export type OutlineEntry = Definition;

const HEADING = /^(#{1,6}) +(\S.*)$/;
const FENCE = /^ {0,3}(?:```|~~~)/;
const UNDERLINE = /^(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,}|#{3,})$/;
const NUMBERED = /^(\d+(?:\.\d+)*)\.? +[A-Z].{2,80}$/;
const MAX_HEADING_CHARS = 200;

/** Returns the outline of a text; empty if it has none. May throw `GrammarNeeded`. */
export function outlineOf(
  lines: readonly string[],
  { kind, extension }: Classification,
  definitions: Definitions | undefined,
): readonly OutlineEntry[] {
  if (kind === 'code') {
    const found = extension === undefined ? undefined : definitions?.(lines.join('\n'), extension);
    const isHeader = extension !== undefined && HEADER_EXTENSIONS.has(extension);
    return found === undefined
      ? leastIndented(lines, isHeader)
      : withUncovered(found, lines, isHeader);
  }
  return kind === 'narrative' ? headings(lines) : leastIndented(lines);
}

/** Adds the outermost lines of the parts that no definition covers: tables, statements, tests. */
function withUncovered(
  definitions: readonly OutlineEntry[],
  lines: readonly string[],
  isHeader: boolean,
): readonly OutlineEntry[] {
  const isCovered = lines.map(() => false);
  for (const { from, to } of definitions) isCovered.fill(true, from, to);
  const others = leastIndented(
    lines.map((line, at) => (isCovered[at] === true ? '' : line)),
    isHeader,
  );
  return [...definitions, ...others].toSorted((one, other) => one.from - other.from);
}

/** Finds headings of Markdown, reStructuredText and numbered chapters. */
function headings(lines: readonly string[]): readonly OutlineEntry[] {
  const found: OpenEntry[] = [];
  const underlines: string[] = [];
  let isCode = false;
  lines.forEach((line, row) => {
    if (FENCE.test(line)) isCode = !isCode;
    if (isCode || line.length > MAX_HEADING_CHARS) return;
    const below = lines[row + 1] ?? '';
    const isUnderlined =
      /\S/.test(line) && UNDERLINE.test(below) && below.length >= line.length - 1;
    const [, marks, title] = HEADING.exec(line) ?? [];
    const number = NUMBERED.exec(line)?.[1];
    if (title !== undefined) found.push({ row, name: title, depth: marks!.length - 1, rows: 1 });
    else if (isUnderlined && !UNDERLINE.test(line)) {
      const underlineChar = below[0]!;
      if (!underlines.includes(underlineChar)) underlines.push(underlineChar);
      found.push({ row, name: line, depth: underlines.indexOf(underlineChar), rows: 2 });
    } else if (number !== undefined)
      found.push({ row, name: line, depth: number.split('.').length - 1, rows: 1 });
  });
  return withEnds(found, lines.length);
}

/**
 * Finds lines of the two lowest indentation levels with deeper lines below; in a header also
 * one-line declarations.
 */
function leastIndented(all: readonly string[], isHeader = false): readonly OutlineEntry[] {
  const lines = withoutComments(all);
  const filled = lines.flatMap((line, row) => {
    const indent = line.search(/\S/);
    return indent < 0 || /^\s*[)\]}>,;]+\s*$/.test(line) ? [] : [{ row, indent, line }];
  });
  const levels = [...new Set(filled.map(({ indent }) => indent))]
    .toSorted((one, other) => one - other)
    .slice(0, 2);
  const found = filled.flatMap(({ row, indent, line }, at) => {
    const isParent = (filled[at + 1]?.indent ?? -1) > indent;
    const depth = levels.indexOf(indent);
    const declares = isHeader && indent === 0 && DECLARATION.test(line);
    if (depth < 0 || (!isParent && !declares)) return [];
    return [{ row, name: line.trim(), depth, rows: declares ? rowsOf(lines, row) : 1 }];
  });
  return withEnds(found, lines.length);
}

/** Extensions of header files, whose declarations take a line or a few each. */
const HEADER_EXTENSIONS: ReadonlySet<string> = new Set('h hh hpp hxx pyi mli'.split(' '));
/** A declaration in a header file; lines that only open or close one do not count. */
const DECLARATION =
  /^(?:[A-Za-z_][^;{}=]{0,200}\(|(?:typedef|struct|enum|union|class|namespace|extern|using|template|val|type|def)\b|#\s*define\s+\w+[( ])/;
const MAX_ENTRY_ROWS = 4;

function rowsOf(lines: readonly string[], row: number): number {
  for (let rows = 1; rows < MAX_ENTRY_ROWS; rows++)
    if (/[;{:]\s*$/.test(lines[row + rows - 1]!) || !/^\s+\S/.test(lines[row + rows] ?? ''))
      return rows;
  return MAX_ENTRY_ROWS;
}

const COMMENT =
  /^\s*(?:\/\/|--\s|;|%|\*(?:\s|\/|$)|#(?![!\w]|\s*(?:define|include|if|ifdef|ifndef|else|elif|endif|pragma|undef)\b)|@\w)/;
const BLOCK_COMMENTS: readonly (readonly [open: RegExp, close: string])[] = [
  [/^\s*\/\*/, '*/'],
  [/^\s*<!--/, '-->'],
  [/^\s*\(\*/, '*)'],
  [/^\s*[rRuU]?"""/, '"""'],
  [/^\s*[rRuU]?'''/, "'''"],
];

/** Blanks out comments, licences, docstrings and decorators; keeps the line count. */
function withoutComments(lines: readonly string[]): readonly string[] {
  let close: string | undefined;
  return lines.map((line) => {
    if (close !== undefined) {
      if (line.includes(close)) close = undefined;
      return '';
    }
    const opened = BLOCK_COMMENTS.find(([open]) => open.test(line));
    if (opened === undefined) return COMMENT.test(line) ? '' : line;
    const [open, end] = opened;
    const rest = line.slice(open.exec(line)![0].length);
    if (!rest.includes(end)) close = end;
    return '';
  });
}

interface OpenEntry {
  readonly row: number;
  readonly rows: number;
  readonly name: string;
  readonly depth: number;
}

/** Extends each entry to the next one that is no deeper. */
function withEnds(found: readonly OpenEntry[], end: number): readonly OutlineEntry[] {
  const openEntries: OpenEntry[] = [];
  return found
    .toReversed()
    .map((one): OutlineEntry => {
      while (openEntries.length > 0 && openEntries.at(-1)!.depth > one.depth) openEntries.pop();
      const to = openEntries.at(-1)?.row ?? end;
      openEntries.push(one);
      const { row, rows, name, depth } = one;
      return { name, from: row, signatureEnd: Math.min(row + rows, to), to, depth };
    })
    .toReversed();
}
