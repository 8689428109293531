/**
 * Strips source code: lines with only comments are dropped, runs of blank lines between statements
 * shrink to one. Every other line stays verbatim, so identifiers, signatures, strings and syntax
 * are complete. Comments for tools, and warnings, stay too.
 */
import { lineNumbering } from '../../../model/classify/envelope.ts';
import { keptComments } from './comments.ts';
import { hereDocuments, mayBeginInside } from './excerpt.ts';
import { asksForComments, namedLines, type QueryContext } from '../named-lines.ts';
import type { Apply, Compressed, LineRange } from '../rule.ts';
import { MARK } from '../../text/marker.ts';
import { linesIn, rangesWithout } from '../../text/ranges.ts';

/** Strips comment lines; needs `context.commentLines`. */
export const stripCode: Apply = (text, context) => {
  const extension = context.classification.extension ?? guessExtension(text);
  if (context.commentLines === undefined || extension === undefined) return undefined;
  if (asksForComments(context)) return undefined;
  const raw = text.split('\n');
  const widths = lineNumbering(raw);
  const lines = widths === undefined ? raw : raw.map((line, at) => line.slice(widths[at]));
  const known = widths !== undefined && beginsAtLineOne(raw);
  if (!known && mayBeginInside(lines, extension)) return undefined;
  const droppable = context.commentLines(lines.join('\n'), extension);
  const content = hereDocuments(lines, extension);
  if (droppable === undefined || content === undefined) return undefined;
  return dropLines(raw, lines, { droppable, content, extension, asking: context });
};

/** Returns whether a numbered view begins with the first line of its file. */
function beginsAtLineOne(numbered: readonly string[]): boolean {
  const first = numbered.find((line) => line !== '') ?? '';
  return Number(/^ *(\d{1,9})/.exec(first)?.[1]) === 1;
}

interface Parsed {
  /** Lines that hold only a comment, or are blank after another blank line. */
  readonly droppable: readonly LineRange[];
  /** Lines that are content, whatever the parser reports. */
  readonly content: ReadonlySet<number>;
  readonly extension: string;
  readonly asking: QueryContext;
}

function dropLines(
  raw: readonly string[],
  lines: readonly string[],
  { droppable, content, extension, asking }: Parsed,
): Compressed | undefined {
  const isBlank = lines.map((line) => line.trim() === '');
  const comments = droppable.filter(({ from }) => isBlank[from] !== true);
  const spareBlanks = new Set(droppable.map(({ from }) => from).filter((at) => isBlank[at]));
  const keep = lines.map(() => true);
  const kept = keptComments(lines, comments);
  const inComments = linesIn(comments);
  const named = namedLines(
    lines.map((line, at) => (inComments.has(at) ? line : '')),
    asking,
  );
  const isNamed = ({ from, to }: LineRange): boolean => named.some((at) => at >= from && at < to);
  for (const range of comments)
    if (!kept.has(range) && !isNamed(range)) keep.fill(false, range.from, range.to);
  for (const at of content) keep[at] = true;
  let blank = true;
  keep.forEach((isKept, at) => {
    if (!isKept) return;
    if (blank && spareBlanks.has(at) && !content.has(at)) keep[at] = false;
    blank = isBlank[at]!;
  });
  const out = raw.filter((_, at) => keep[at]);
  const removed = rangesWithout(keep);
  const count = raw.length - out.length;
  if (count < 2) return undefined;
  const note = `${MARK}omitted ${count} of ${raw.length} lines, comments and blank lines only; the source is complete]`;
  const first = out[0]?.startsWith('#!') === true ? 1 : 0;
  out.splice(first, 0, asComment(note, extension));
  return { text: out.join('\n'), removed };
}

const HASH_COMMENTS = new Set('py pyi rb sh bash zsh pl r ps1 gyp gypi'.split(' '));

function asComment(note: string, extension: string): string {
  if (HASH_COMMENTS.has(extension)) return `# ${note}`;
  return extension === 'css' ? `/* ${note} */` : `// ${note}`;
}

const LANGUAGE_HINTS: readonly (readonly [string, RegExp])[] = [
  [
    'py',
    /^(?:from [\w.]+ import |import \w[\w.]*$|(?:async )?def \w+\(.*|class \w.*:$|[ \t]+self\.)/m,
  ],
  ['go', /^package \w+$|^func (?:\(|\w+\()/m],
  ['rs', /^(?:pub )?(?:fn|impl|mod|use) [\w<:]+|^#\[derive/m],
  [
    'java',
    /^(?:package [\w.]+;|import (?:static )?[\w.]+\*?;|public (?:final |abstract )?(?:class|interface|enum) )/m,
  ],
  ['cpp', /^#\s*(?:include|define|ifndef|ifdef|pragma)\b/m],
  ['php', /^<\?php/m],
  ['rb', /^(?:require ['"]|[ \t]*def \w+[?!]?(?:\(|$)|[ \t]*end$)/m],
  [
    'ts',
    /^(?:import|export) .*|^(?:const|let|var) \w+|^(?:async )?function \w+|^interface \w+|require\(/m,
  ],
  ['sh', /^#!.*\bsh$|^(?:if \[|for \w+ in |fi$|done$)/m],
  ['css', /^[.#@]?[\w-]+[^{}\n]{0,80}\{$/m],
];

/**
 * Guesses the file extension of source without a known file; undefined if nothing suggests a
 * language.
 */
export function guessExtension(text: string): string | undefined {
  const sample = text
    .slice(0, 8000)
    .split('\n')
    .map((line) => line.slice(0, 200))
    .join('\n');
  return LANGUAGE_HINTS.find(([, pattern]) => pattern.test(sample))?.[0];
}
