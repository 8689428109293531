/**
 * Stack traces: frames inside libraries and repeated frames go, with a marker; messages,
 * causes, the project's own frames, and the first and last frame of every stack stay.
 * A stack seen before in the same text is named, not repeated.
 */
import { cleanLine } from './log-clean.ts';
import type { Compressed, Compressor } from './compressor.ts';
import { joinKept } from './marker.ts';

/** A line that names a place in a stack: Python, JavaScript, Java, Go, Rust, Ruby, C#. */
const FRAME =
  /^\s*(?:File "[^"]{1,300}", line \d+|at .{1,300}|\.\.\. \d+ more|\d+: 0x[0-9a-f]+|\S{1,300}\.go:\d+|from \S{1,300}:\d+:in )/;
const LIBRARY =
  /site-packages\/|dist-packages\/|\/lib\/python\d|node_modules\/|node:internal|\(internal\/|<frozen |\/rustc\/|\.cargo\/registry|\/usr\/(?:local\/)?(?:lib|go|share)\/|\b(?:java|javax|jdk|sun|kotlin|scala|org\.(?:springframework|junit|apache|hibernate|gradle))\.|\/gems\/|System\.(?:Threading|Runtime)|testing\.tRunner|runtime\//;
const MIN_RUN = 2;

/** Shortens stack traces. */
export const shortenTraces: Compressor = {
  name: 'trace',
  classes: ['trace', 'log'],
  apply(text): Compressed | undefined {
    const lines = text.split('\n');
    const frames = readFrames(lines);
    if (frames.length < 4) return undefined;
    const keep = lines.map(() => true);
    for (const stack of stacksOf(frames)) dropFrames(stack, lines, keep);
    const { text: out, removed } = joinKept(lines, keep);
    return removed.length > 0 && out.length < text.length ? { text: out, removed } : undefined;
  },
};

/** A frame's own line and the source lines that belong to it. */
interface Frame {
  readonly from: number;
  readonly to: number;
  readonly library: boolean;
}

function readFrames(lines: readonly string[]): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.slice(0, 400);
    if (!FRAME.test(line)) continue;
    let to = at + 1;
    // Python prints the source line, and since 3.11 a line of carets, below a frame.
    if (/^\s*File "/.test(line)) {
      const indent = /^\s*/.exec(line)![0].length;
      while (to < lines.length && to - at < 4 && isDeeper(lines[to]!, indent)) to++;
    }
    frames.push({ from: at, to, library: LIBRARY.test(cleanLine(line)) });
    at = to - 1;
  }
  return frames;
}

function isDeeper(line: string, indent: number): boolean {
  const own = /^\s*/.exec(line.slice(0, 80))![0].length;
  return own > indent && !FRAME.test(line.slice(0, 400));
}

/** Frames that follow each other without a line between them. */
function stacksOf(frames: readonly Frame[]): readonly (readonly Frame[])[] {
  const stacks: Frame[][] = [];
  for (const frame of frames) {
    const open = stacks.at(-1);
    if (open !== undefined && open.at(-1)!.to === frame.from) open.push(frame);
    else stacks.push([frame]);
  }
  return stacks;
}

function dropFrames(stack: readonly Frame[], lines: readonly string[], keep: boolean[]): void {
  const seen = new Set<string>();
  const droppable = stack.map((frame, at) => {
    const name = lines.slice(frame.from, frame.to).join('\n');
    const again = seen.has(name);
    seen.add(name);
    return at > 0 && at < stack.length - 1 && (frame.library || again);
  });
  for (let at = 0; at < stack.length;) {
    let end = at;
    while (end < stack.length && droppable[end] === true) end++;
    if (end - at >= MIN_RUN) keep.fill(false, stack[at]!.from, stack[end - 1]!.to);
    at = Math.max(end, at + 1);
  }
}
