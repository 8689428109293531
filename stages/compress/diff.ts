/**
 * Diffs: the file's three header lines become one, context shrinks to a line a side, and
 * hunks of lock files and generated files are counted instead of shown. No + or − line of
 * source is ever left out, and hunk headers keep true line numbers.
 */
import type { Compressed, Compressor, LineRange } from './compressor.ts';
import { MARK } from './marker.ts';

export const DIFF_HEADER = `${MARK}diff with less context, all + and - lines kept, "*** p" = --- a/p and +++ b/p; the source is complete]`;

const CONTEXT = 1;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/s;
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum|flake\.lock)$|\.min\.(?:js|css)$|\.(?:js|css)\.map$|\.snap$/;

/** Shrinks unified diffs as git prints them. */
export const shrinkDiff: Compressor = {
  name: 'diff',
  classes: ['diff'],
  apply(text): Compressed | undefined {
    const lines = text.split('\n');
    const out: string[] = [];
    const removed: LineRange[] = [];
    for (let at = 0; at < lines.length;) {
      const hunk = readHunk(lines, at);
      const header = hunk === undefined ? readFileHeader(lines, at) : undefined;
      if (header !== undefined) {
        at = header.end;
        out.push(...header.lines);
        if (!header.generated) continue;
        const end = generatedEnd(lines, at);
        if (end > at) out.push(countHunks(lines.slice(at, end)));
        removed.push({ from: at, to: end });
        at = end;
      } else if (hunk !== undefined) {
        out.push(...trimHunk(hunk, removed));
        at = hunk.end;
      } else out.push(lines[at++]!);
    }
    const joined = `${DIFF_HEADER}\n${out.join('\n')}`;
    return joined.length < text.length ? { text: joined, removed } : undefined;
  },
};

interface FileHeader {
  readonly lines: readonly string[];
  readonly end: number;
  readonly generated: boolean;
}

/** `diff --git` with its `index`, `---` and `+++` lines, where all name the same path. */
function readFileHeader(lines: readonly string[], at: number): FileHeader | undefined {
  const match = /^diff --git a\/(.{1,400}) b\/\1$/s.exec(lines[at]!);
  if (match === null) return undefined;
  const path = match[1]!;
  const kept: string[] = [`*** ${path}`];
  let end = at + 1;
  while (
    end < lines.length &&
    /^(?:index [0-9a-f]+\.\.[0-9a-f]+|old mode|new mode|new file|deleted file|--- |\+\+\+ )/.test(
      lines[end]!,
    )
  ) {
    const line = lines[end]!;
    end++;
    if (line === `--- a/${path}` || line === `+++ b/${path}` || line.startsWith('index ')) continue;
    kept.push(line);
    if (line.startsWith('+++ ')) break;
  }
  return { lines: kept, end, generated: GENERATED.test(path) };
}

function generatedEnd(lines: readonly string[], at: number): number {
  let end = at;
  for (let hunk = readHunk(lines, end); hunk !== undefined; hunk = readHunk(lines, end))
    end = hunk.end;
  return end;
}

function countHunks(lines: readonly string[]): string {
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return `${MARK}generated file: ${count('@@ ')} hunks with ${count('+')} added and ${count('-')} removed lines left out; the source is complete]`;
}

interface Hunk {
  readonly at: number;
  readonly end: number;
  readonly oldStart: number;
  readonly newStart: number;
  readonly heading: string;
  readonly lines: readonly string[];
}

/** A hunk whose lines add up to what its header says; anything else is left as it is. */
function readHunk(lines: readonly string[], at: number): Hunk | undefined {
  const match = HUNK.exec(lines[at] ?? '');
  if (match === null) return undefined;
  let oldLeft = Number(match[2] ?? 1);
  let newLeft = Number(match[4] ?? 1);
  let end = at + 1;
  while (end < lines.length && (oldLeft > 0 || newLeft > 0)) {
    const sign = lines[end]![0] ?? ' ';
    if (sign === '-') oldLeft--;
    else if (sign === '+') newLeft--;
    else if (sign === ' ') {
      oldLeft--;
      newLeft--;
    } else if (sign !== '\\') return undefined;
    end++;
  }
  if (oldLeft !== 0 || newLeft !== 0) return undefined;
  if (lines[end]?.startsWith('\\') === true) end++;
  return {
    at,
    end,
    oldStart: Number(match[1]),
    newStart: Number(match[3]),
    heading: match[5]!,
    lines: lines.slice(at + 1, end),
  };
}

/** The hunk with `CONTEXT` lines around each change; a long quiet stretch inside splits it in two. */
function trimHunk(hunk: Hunk, removed: LineRange[]): string[] {
  const isChange = hunk.lines.map((line) => /^[+\-\\]/.test(line));
  const keep = hunk.lines.map((_, at) =>
    isChange.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).includes(true),
  );
  bridge(keep);
  const out: string[] = [];
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  let heading = hunk.heading;
  for (let at = 0; at < hunk.lines.length;) {
    let end = at;
    while (end < hunk.lines.length && keep[end] === keep[at]) end++;
    const part = hunk.lines.slice(at, end);
    const oldCount = part.filter((line) => /^(?:[- ]|$)/.test(line)).length;
    const newCount = part.filter((line) => /^(?:[+ ]|$)/.test(line)).length;
    if (keep[at] === true) {
      out.push(`@@ -${span(oldLine, oldCount)} +${span(newLine, newCount)} @@${heading}`, ...part);
      heading = '';
    } else removed.push({ from: hunk.at + 1 + at, to: hunk.at + 1 + end });
    oldLine += oldCount;
    newLine += newCount;
    at = end;
  }
  return out;
}

/** A gap of two lines or fewer inside a hunk costs less than the header that would replace it. */
function bridge(keep: boolean[]): void {
  let last = -1;
  for (let at = 0; at < keep.length; at++) {
    if (keep[at] !== true) continue;
    if (last >= 0 && at - last > 1 && at - last <= 4) keep.fill(true, last, at);
    last = at;
  }
}

function span(start: number, count: number): string {
  return count === 1 ? String(start) : `${start},${count}`;
}
