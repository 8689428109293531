/**
 * Shortens stack traces: library frames and repeated frames are replaced by a marker; messages,
 * causes, the project's own frames, the frames nearest the error and the outermost one of every
 * stack are kept.
 */
import { costsAtLeast } from '../../../model/tokens.ts';
import { cleanLine } from '../log/clean.ts';
import type { Apply } from '../rule.ts';
import { endingLines } from '../log/ending-lines.ts';
import { joinKept } from '../../text/marker.ts';
import { runsOf } from '../../text/ranges.ts';
import { isElidedFrames, isLibraryCall, ownFamilies } from './library.ts';

/** The line of a stack frame: Python, JavaScript, Java, Go, Rust, Ruby, C#. */
const STACK_FRAME =
  /^\s*(?:File "[^"]{1,300}", line \d+|at .{1,300}|\.\.\. \d+ more|\d+: 0x[0-9a-f]+|\S{1,300}\.go:\d+|from \S{1,300}:\d+:in )/;
const PYTHON_FRAME = /^\s*File "/;
const MIN_RUN = 2;
/** Library frames kept next to the error: they show how the library was called. */
const KEPT_NEAR_ERROR = 3;

/** Shortens stack traces. */
export const shortenTraces: Apply = (text, { classification, logBudgetTokens }) => {
  // A log within its budget is left alone.
  if (classification.kind === 'log' && !costsAtLeast(text, logBudgetTokens + 1)) return undefined;
  const lines = text.split('\n');
  const stacks = stacksOf(readStackFrames(lines));
  if (stacks.flat().length < 4) return undefined;
  const families = ownFamilies(stacks.map((stack) => stack.map(({ name }) => name)));
  const keep = lines.map(() => true);
  for (const stack of stacks) {
    const mayGo = droppable(stack, lines, families);
    for (const { from, to } of runsOf(stack, (_, at) => mayGo[at] || undefined, MIN_RUN))
      keep.fill(false, stack[from]!.from, stack[to - 1]!.to);
  }
  if (classification.kind === 'log') for (const at of endingLines(lines)) keep[at] = true;
  const { text: out, removed } = joinKept(lines, keep);
  return removed.length > 0 && out.length < text.length ? { text: out, removed } : undefined;
};

/** A frame's line and its source lines. */
interface StackFrame {
  readonly from: number;
  readonly to: number;
  /** The frame's line without colours. */
  readonly name: string;
}

function readStackFrames(lines: readonly string[]): readonly StackFrame[] {
  const stackFrames: StackFrame[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.slice(0, 400);
    if (!STACK_FRAME.test(line)) continue;
    let to = at + 1;
    // Python prints the source line, and since 3.11 a line of carets, below a frame.
    if (PYTHON_FRAME.test(line)) {
      const indent = /^\s*/.exec(line)![0].length;
      while (to < lines.length && to - at < 4 && isDeeper(lines[to]!, indent)) to++;
    }
    stackFrames.push({ from: at, to, name: cleanLine(line) });
    at = to - 1;
  }
  return stackFrames;
}

function isDeeper(line: string, indent: number): boolean {
  const own = /^\s*/.exec(line.slice(0, 80))![0].length;
  return own > indent && !STACK_FRAME.test(line.slice(0, 400));
}

/** Groups frames with no line between them. */
function stacksOf(stackFrames: readonly StackFrame[]): readonly (readonly StackFrame[])[] {
  const stacks: StackFrame[][] = [];
  for (const call of stackFrames) {
    const open = stacks.at(-1);
    if (open !== undefined && open.at(-1)!.to === call.from) open.push(call);
    else stacks.push([call]);
  }
  return stacks;
}

/**
 * Marks the frames that may be dropped. A stack with only library frames keeps them, as it has
 * nothing else to show.
 */
function droppable(
  stack: readonly StackFrame[],
  lines: readonly string[],
  families: ReadonlySet<string>,
): readonly boolean[] {
  const library = stack.map(({ name }) => isLibraryCall(name, families));
  if (!stack.some(({ name }, at) => library[at] !== true && !isElidedFrames(name)))
    library.fill(false);
  const atError = PYTHON_FRAME.test(stack[0]!.name) ? library.toReversed() : library;
  const own = atError.indexOf(false);
  const nearest = own < 0 ? 0 : Math.min(own, KEPT_NEAR_ERROR);
  const isNearest = (at: number): boolean =>
    atError === library ? at < nearest : at >= stack.length - nearest;
  const seen = new Set<string>();
  return stack.map((call, at) => {
    const whole = lines.slice(call.from, call.to).join('\n');
    const again = seen.has(whole);
    seen.add(whole);
    const inner = at > 0 && at < stack.length - 1;
    return inner && (again || (library[at] === true && !isNearest(at)));
  });
}
