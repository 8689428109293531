/**
 * Packs the frames of Python tracebacks without loss: path, line and name without the words between
 * them, and the directory shared by the project's frames written once.
 */
import type { Apply } from '../rule.ts';
import { MARK } from '../../text/marker.ts';

const HEADER_START = `${MARK}frames are path:line name`;
const MIN_CALLS = 4;
/** Longer lines are never frames. */
const MAX_LINE_CHARS = 700;
const STACK_FRAME = /^( *)File "([^"\n:]{1,400})", line (\d{1,7}), in (\S.{0,200})$/;
const PACKED = /^( *)([^"\n:]{1,400}):(\d{1,7}) (\S.{0,200})$/;
/** Installed code is outside the project and would shorten the shared directory. */
const INSTALLED = /site-packages\/|dist-packages\/|\/lib\/python\d|^<|^\/usr\//;
const ROOT_PREFIX = '~/';

/** Writes the frames of Python tracebacks in short form. Decoded again before use. */
export const packStack: Apply = (text) => {
  const lines = text.split('\n');
  const calls = lines.map((line) => (line.length > MAX_LINE_CHARS ? null : STACK_FRAME.exec(line)));
  const paths = calls.flatMap((call) => (call === null ? [] : [call[2]!]));
  if (paths.length < MIN_CALLS) return undefined;
  const root = sharedDirectory(paths.filter((path) => !INSTALLED.test(path)));
  const packed = calls.map((call, at) => {
    if (call === null) return escape(lines[at]!);
    const [, indent, path, number, name] = call;
    return `${indent}${shorten(path!, root)}:${number} ${name}`;
  });
  const header = root === '' ? `${HEADER_START}]` : `${HEADER_START}; ${ROOT_PREFIX} is ${root}]`;
  const out = [header, ...packed].join('\n');
  return unpackStack(out) === text ? { text: out, removed: [] } : undefined;
};

/** Escapes a line that could be taken for a packed frame with a leading bar. */
function escape(line: string): string {
  const ambiguous = line.startsWith('|') || (line.length <= MAX_LINE_CHARS && PACKED.test(line));
  return ambiguous ? `|${line}` : line;
}

function shorten(path: string, root: string): string {
  return root !== '' && path.startsWith(root) ? ROOT_PREFIX + path.slice(root.length) : path;
}

/** Returns the directory shared by all paths, with its trailing slash; '' where they share none. */
function sharedDirectory(paths: readonly string[]): string {
  let root = paths[0] ?? '';
  for (const path of paths) {
    while (!path.startsWith(root) || (root !== '' && !root.endsWith('/')))
      root = root.length < 2 ? '' : root.slice(0, root.lastIndexOf('/', root.length - 2) + 1);
  }
  return root.length > 1 && !root.includes(']') ? root : '';
}

const ROOT_MARK = '; ~/ is ';

/** Decodes packed frames; undefined if svc did not write the text. */
export function unpackStack(text: string): string | undefined {
  const [header = '', ...lines] = text.split('\n');
  if (!header.startsWith(HEADER_START)) return undefined;
  const at = header.indexOf(ROOT_MARK);
  const hasRoot = at >= 0 && header.endsWith(']');
  const root = hasRoot ? header.slice(at + ROOT_MARK.length, -1) : '';
  return lines
    .map((line) => {
      if (line.startsWith('|')) return line.slice(1);
      const match = line.length > MAX_LINE_CHARS ? null : PACKED.exec(line);
      if (match === null) return line;
      const [, indent, short, number, name] = match;
      const path =
        root !== '' && short!.startsWith(ROOT_PREFIX)
          ? root + short!.slice(ROOT_PREFIX.length)
          : short;
      return `${indent}File "${path}", line ${number}, in ${name}`;
    })
    .join('\n');
}
