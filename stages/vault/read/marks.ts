/** Where the parts of a file begin, for files that need no grammar. */
import type { Mark } from './chunk.ts';

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^(#{1,6})\s|^(={1,6})\s\S/;
const UNDERLINE = /^(=|-|~|\^){3,}\s*$/;

/** Headings of Markdown, reStructuredText and AsciiDoc, outside of fenced code. */
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

/** A line of words with nothing above it: what an underline may make a heading of. */
function isTitle(lines: readonly string[], line: number): boolean {
  const title = lines[line]?.trim() ?? '';
  return /\p{L}/u.test(title) && (lines[line - 1]?.trim() ?? '') === '';
}

const CLOSING = /^[\s})\]>;,]|^(end|else|elif|elseif|except|catch|finally|then|fi|done|esac)\b/;

/**
 * Definitions of a language without a grammar, by layout alone: a line at the left margin
 * that closes nothing begins a part, and behind a blank line so does one at the first
 * level of indentation. Comments and decorators directly above belong to what follows.
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
