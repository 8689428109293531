/** A unified diff of the lines that a text lost and gained, for the screen. */
import { structuredPatch } from 'diff';
import type { Colors } from '../screen/output.ts';

export interface LineDiffOptions {
  readonly colors: Colors;
  /** Shows every line in full; otherwise long runs of one sign, and long lines, are cut. */
  readonly full: boolean;
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

const CONTEXT_LINES = 2;
/** Lines of one sign shown in a row, and characters of a line, unless all are requested. */
const MAX_LINES = 12;
const MAX_CHARS = 240;
/** Time limit: a slower diff means that the texts have little in common. */
const TIMEOUT_MS = 2000;

/**
 * Returns the coloured diff: `-` for removed lines, `+` for their replacements. Empty for equal
 * texts.
 */
export function lineDiff(before: string, after: string, options: LineDiffOptions): string[] {
  const { colors, full } = options;
  return hunksOf(before, after).flatMap((hunk) => {
    const old = `-${hunk.oldStart},${hunk.oldLines}`;
    const heading = `@@ ${old} +${hunk.newStart},${hunk.newLines} @@`;
    const lines = hunk.lines.filter((line) => !line.startsWith('\\'));
    const visible = full ? lines : shortened(lines).map(cut);
    return [colors.cyan(heading), ...visible.map((line) => paint(line, colors))];
  });
}

function hunksOf(before: string, after: string): readonly Hunk[] {
  const options = { context: CONTEXT_LINES, timeout: TIMEOUT_MS };
  const patch = structuredPatch('', '', before, after, '', '', options);
  if (patch !== undefined) return patch.hunks;
  const [old, now] = [before.split('\n'), after.split('\n')];
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  return [{ oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines }];
}

function cut(line: string): string {
  const left = line.length - MAX_CHARS;
  return left <= 0 ? line : `${line.slice(0, MAX_CHARS)}… ${left} more characters`;
}

/** Cuts runs of more than `MAX_LINES` lines with the same sign to their beginning and end. */
function shortened(lines: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < lines.length;) {
    const sign = lines[at]!.charAt(0);
    let end = at + 1;
    while (end < lines.length && lines[end]!.startsWith(sign)) end++;
    const run = lines.slice(at, end);
    if (run.length <= MAX_LINES) out.push(...run);
    else {
      const first = Math.ceil(MAX_LINES / 2);
      const tail = MAX_LINES - first;
      const left = run.length - MAX_LINES;
      const what = sign === '-' ? 'removed' : sign === '+' ? 'new' : 'equal';
      out.push(...run.slice(0, first), `… ${left} more ${what} lines; --full shows them`);
      out.push(...run.slice(run.length - tail));
    }
    at = end;
  }
  return out;
}

function paint(line: string, colors: Colors): string {
  if (line.startsWith('-')) return colors.red(line);
  if (line.startsWith('+')) return colors.green(line);
  return colors.dim(line);
}
