/**
 * Folds recursive listings (`ls -R`) into a tree: every directory is one line with its name and
 * content, indented by depth, instead of a heading with the whole path between blank lines.
 *
 *     .: README.md src
 *      src: app.ts lib
 *       lib: {a,b}.ts
 */
import { braceRows, namesOf } from './names.ts';

const MIN_SECTIONS = 4;
/** A directory and its content; the name has no space. */
const SECTION = /^( {0,60})(\S+?):(?: (.+))?$/s;

/**
 * Folds the lines into a tree; undefined if they are not a recursive listing. Other lines are kept
 * after a tab.
 */
export function foldSections(lines: readonly string[]): readonly string[] | undefined {
  const out: string[] = [];
  const parents: string[] = [];
  let sections = 0;
  for (let at = 0; at < lines.length;) {
    const start = sectionStart(lines, at);
    if (start === undefined) {
      out.push(lines[at] === '' ? '' : `\t${lines[at]!}`);
      at++;
      continue;
    }
    sections++;
    let end = start + 1;
    while (end < lines.length && isName(lines[end]!)) end++;
    const path = lines[start]!.slice(0, -1);
    while (parents.length > 0 && !path.startsWith(`${parents.at(-1)}/`)) parents.pop();
    const name = parents.length === 0 ? path : path.slice(parents.at(-1)!.length + 1);
    const rows = braceRows(lines.slice(start + 1, end)).join(' ');
    out.push(`${' '.repeat(parents.length)}${name}:${rows === '' ? '' : ` ${rows}`}`);
    parents.push(path);
    at = end;
  }
  return sections >= MIN_SECTIONS ? out : undefined;
}

/** Returns the index of the heading at `at`, which a blank line precedes unless it is the first. */
function sectionStart(lines: readonly string[], at: number): number | undefined {
  const start = at === 0 && lines[0] !== '' ? 0 : at + 1;
  if (start > at && lines[at] !== '') return undefined;
  const line = lines[start];
  if (line === undefined || line.length > 400 || !/^[^\s{},\\]+:$/.test(line)) return undefined;
  return start === 0 || at > 0 ? start : undefined;
}

function isName(line: string): boolean {
  return line !== '' && line.length <= 400 && !/[\s{},\\]|:$/.test(line);
}

/** Restores the lines given to `foldSections`. */
export function unfoldSections(lines: readonly string[]): string[] {
  const parents: string[] = [];
  const out: string[] = [];
  for (const line of lines) {
    const match = line.startsWith('\t') ? null : SECTION.exec(line);
    if (match === null) {
      out.push(line.startsWith('\t') ? line.slice(1) : line);
      continue;
    }
    const [, indent, name, rows] = match;
    parents.length = Math.min(parents.length, indent!.length);
    const path = parents.length === 0 ? name! : `${parents.at(-1)}/${name}`;
    parents.push(path);
    if (out.length > 0) out.push('');
    out.push(`${path}:`, ...(rows === undefined ? [] : namesOf(rows)));
  }
  return out;
}
