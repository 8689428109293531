/** Finds the parts of files that need no grammar. */
import type { Mark } from './chunk.ts';

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^(#{1,6})\s|^(={1,6})\s\S/;
const UNDERLINE = /^(=|-|~|\^){3,}\s*$/;

/** Finds headings of Markdown, reStructuredText and AsciiDoc outside fenced code. */
export function proseMarks(lines: readonly string[]): Mark[] {
  const marks: Mark[] = [];
  let fence = '';
  for (const [line, text] of lines.entries()) {
    const opened = FENCE.exec(text)?.[1];
    if (opened !== undefined && (fence === '' || fence === opened)) {
      fence = fence === '' ? opened : '';
    }
    if (fence !== '') continue;
    const heading = HEADING.exec(text);
    if (heading !== null) {
      marks.push({ line, depth: Math.min((heading[1] ?? heading[2])!.length - 1, 3) });
    } else if (UNDERLINE.test(text) && isTitle(lines, line - 1)) {
      marks.push({ line: line - 1, depth: text.startsWith('=') ? 0 : 1 });
    }
  }
  return marks;
}

/**
 * Returns true for a line of words below a blank line, which an underline may turn into a heading.
 */
function isTitle(lines: readonly string[], line: number): boolean {
  const title = lines[line]?.trim() ?? '';
  return /\p{L}/u.test(title) && (lines[line - 1]?.trim() ?? '') === '';
}

const CLOSING = /^[\s})\]>;,]|^(end|else|elif|elseif|except|catch|finally|then|fi|done|esac)\b/;

/**
 * Finds definitions of a language without a grammar, by layout alone: a part begins at an
 * unindented line that closes nothing, and, after a blank line, at one with the first level of
 * indentation. Comments and decorators directly above belong to the part.
 */
export function layoutMarks(lines: readonly string[]): Mark[] {
  const marks: Mark[] = [];
  let attached = false;
  for (const [line, text] of lines.entries()) {
    const blankAbove = line === 0 || lines[line - 1]!.trim() === '';
    if (text.trim() === '') {
      attached = false;
    } else if (!CLOSING.test(text)) {
      if (!attached) marks.push({ line, depth: 0 });
      attached = /^(\/\/|\/\*|#|--|;|@|"""|\[)/.test(text);
    } else if (/^( {2}| {4}|\t)\S/.test(text) && blankAbove) {
      marks.push({ line, depth: 1 });
    }
  }
  return marks;
}
