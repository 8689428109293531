/**
 * Folds lists of paths into a tree: a directory shared by adjacent paths is on a line of its own
 * followed by a tab, and its content is indented by a space. Order is kept.
 */
import { braceRows, namesOf } from './names.ts';

/**
 * Folds paths into directories and rows of names; lines that are not plain paths are kept after a
 * tab.
 */
export function foldPaths(lines: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (end < lines.length && isPlainPath(lines[end]!)) end++;
    if (end > at) {
      emit(lines.slice(at, end), 0, out);
      at = end;
      continue;
    }
    out.push(lines[at] === '' ? '' : `\t${lines[at]!}`);
    at++;
  }
  return out;
}

function isPlainPath(line: string): boolean {
  return line !== '' && line.length <= 400 && !/[\s{},\\]|:$/.test(line);
}

function emit(paths: readonly string[], level: number, out: string[]): void {
  const indent = ' '.repeat(level);
  let leaves: string[] = [];
  const flush = (): void => {
    out.push(...braceRows(leaves).map((row) => indent + row));
    leaves = [];
  };
  for (let at = 0; at < paths.length;) {
    const first = firstDirectory(paths[at]!);
    const end = first === undefined ? at + 1 : runEnd(paths, at, first);
    if (end - at < 2) leaves.push(paths[at]!);
    else {
      flush();
      const run = paths.slice(at, end);
      const shared = sharedDirectory(run);
      out.push(`${indent}${shared}\t`);
      emit(
        run.map((path) => path.slice(shared.length)),
        level + 1,
        out,
      );
    }
    at = end;
  }
  flush();
}

/** Returns the first directory of a path with its slash; undefined if only a name is left. */
function firstDirectory(path: string): string | undefined {
  const slash = path.indexOf('/');
  return slash < 0 || slash === path.length - 1 ? undefined : path.slice(0, slash + 1);
}

function runEnd(paths: readonly string[], at: number, directory: string): number {
  let end = at + 1;
  while (end < paths.length && isInside(paths[end]!, directory)) end++;
  return end;
}

function isInside(path: string, directory: string): boolean {
  return path.length > directory.length && path.startsWith(directory);
}

/** Returns the longest directory that contains all paths. */
function sharedDirectory(paths: readonly string[]): string {
  let shared = paths[0]!;
  for (const path of paths) {
    let length = 0;
    // A path is never inside itself: its last character does not count.
    const max = Math.min(shared.length, path.length - 1);
    while (length < max && shared[length] === path[length]) length++;
    shared = shared.slice(0, length);
  }
  return shared.slice(0, shared.lastIndexOf('/') + 1);
}

/** Restores the lines given to `foldPaths`. */
export function unfoldPaths(lines: readonly string[]): string[] {
  const stack: string[] = [];
  return lines.flatMap((line) => {
    if (line === '') return [''];
    if (line.startsWith('\t')) return [line.slice(1)];
    const level = line.length - line.trimStart().length;
    const content = line.slice(level);
    const folder = stack.slice(0, level).join('');
    if (!content.endsWith('\t')) return namesOf(content).map((name) => folder + name);
    stack[level] = content.slice(0, -1);
    return [];
  });
}
