/**
 * The source lines that Python prints below the frames of a traceback. In the middle of a
 * stack they only repeat what the file and line number name already; the outermost frame
 * and the innermost ones, where the failure is, keep theirs.
 */
import type { Apply } from '../rule.ts';
import { endingLines } from '../log/ends.ts';
import { MARK } from '../text/marker.ts';
import { rangesWithout } from '../text/ranges.ts';

const HEADER = `${MARK}source lines are left out below inner frames; the files have them]`;
const STACK_FRAME = /^( *)File "[^"]{1,400}", line \d{1,7}(?:, in |$)/;
const CARETS = /^\s+[~^]+\s*$/;
/** Frames at the end of a stack that keep their source lines. */
const INNERMOST = 2;
const MIN_DROPPED = 4;

/** Leaves out the source lines of frames in the middle of long tracebacks. */
export const dropSourceLines: Apply = (text) => {
  const lines = text.split('\n');
  const dropped = new Set(stacksOf(lines).flatMap(innerSource));
  if (dropped.size < MIN_DROPPED) return undefined;
  for (const at of endingLines(lines)) dropped.delete(at);
  if (dropped.size < MIN_DROPPED) return undefined;
  const keep = lines.map((_, at) => !dropped.has(at));
  const kept = lines.filter((_, at) => keep[at]);
  return { text: [HEADER, ...kept].join('\n'), removed: rangesWithout(keep) };
};

/** The lines below a frame that show its source, as line numbers. */
type StackFrame = readonly number[];

/** Frames that follow each other, with nothing between them but their source. */
function stacksOf(lines: readonly string[]): readonly (readonly StackFrame[])[] {
  const stacks: StackFrame[][] = [];
  let open: StackFrame[] | undefined;
  for (let at = 0; at < lines.length; at++) {
    const match = STACK_FRAME.exec(lines[at]!.slice(0, 500));
    if (match === null) {
      open = undefined;
      continue;
    }
    const below: number[] = [];
    // One line of source and, since Python 3.11, one of carets; other lines, as of local values, are no source.
    if (isBelow(lines[at + 1], match[1]!.length)) below.push(++at);
    if (below.length > 0 && CARETS.test(lines[at + 1]?.slice(0, 500) ?? '')) below.push(++at);
    if (open === undefined) stacks.push((open = []));
    open.push(below);
  }
  return stacks;
}

function isBelow(line: string | undefined, indent: number): boolean {
  if (line === undefined || line.startsWith(MARK)) return false;
  return /^ */.exec(line.slice(0, 80))![0].length > indent && !STACK_FRAME.test(line.slice(0, 500));
}

function innerSource(stack: readonly StackFrame[]): readonly number[] {
  return stack.slice(1, -INNERMOST).flat();
}
