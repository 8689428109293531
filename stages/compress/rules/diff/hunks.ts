/**
 * Hunks of unified diffs: read completely or not at all, and trimmed to the context that is kept.
 */
import type { LineRange } from '../rule.ts';
import { runsOf } from '../../text/ranges.ts';
import { packSigns } from './signs.ts';

const CONTEXT = 1;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*?)(\r?)$/s;
/** Delimiters of changes inside a line, as `--word-diff` marks them. */
const WORD_DIFF_MARKERS = [
  ['[-', '-]'],
  ['{+', '+}'],
] as const;

/** A complete hunk. */
export interface Hunk {
  readonly at: number;
  readonly end: number;
  readonly oldStart: number;
  readonly newStart: number;
  readonly heading: string;
  /** Line ending before the line feed: a carriage return, or nothing. */
  readonly eol: string;
  readonly lines: readonly string[];
}

/**
 * Reads a hunk whose lines add up to its header's counts; returns undefined for any other, which is
 * left as it is.
 */
export function readHunk(lines: readonly string[], at: number): Hunk | undefined {
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
  if (hasUncountedLines(lines, end) || holdsFileHeader(lines, at, end)) return undefined;
  return {
    at,
    end,
    oldStart: Number(match[1]),
    newStart: Number(match[3]),
    heading: match[5]!,
    eol: match[6]!,
    lines: lines.slice(at + 1, end),
  };
}

/**
 * Returns true if a hunk has lines beyond its header's count: trimming the context would detach
 * them.
 */
function hasUncountedLines(lines: readonly string[], end: number): boolean {
  let next = end;
  while (lines[next]?.trim() === '') next++;
  const line = lines[next] ?? '';
  // The signature of a mail, or the header of the next file.
  if (
    /^-- \r?$/.test(line) ||
    (line.startsWith('--- ') && (lines[next + 1] ?? '').startsWith('+++ '))
  )
    return false;
  return /^[-+ ]/.test(line);
}

/**
 * Returns true if a hunk's count reaches into the next file, whose header then looks like changes.
 */
function holdsFileHeader(lines: readonly string[], from: number, to: number): boolean {
  return (
    to - from > 2 &&
    lines[to - 2]!.startsWith('--- ') &&
    lines[to - 1]!.startsWith('+++ ') &&
    HUNK.test(lines[to] ?? '')
  );
}

/** Options for printing hunks. */
export interface HunkStyle {
  /** Whether the signs of long runs are written once. */
  readonly pack: boolean;
  /** Heading of the previous hunk in the same file; it is not repeated. */
  readonly previousHeading: string | undefined;
  /** True if the file is new or deleted. */
  readonly isWholeFile: boolean;
}

/**
 * Trims a hunk to `CONTEXT` lines around each change; a long unchanged stretch splits it in two.
 * Long runs of added or removed lines are packed. Lines left out are added to `removed`.
 */
export function trimHunk(
  hunk: Hunk,
  removed: LineRange[],
  { pack, previousHeading, isWholeFile }: HunkStyle,
): readonly string[] {
  if (pack && isWholeFile && isOneRun(hunk)) return packSigns(hunk.lines);
  const isChange = hunk.lines.map((line) => /^[+\-\\]/.test(line) || isWordChange(line));
  const keep = hunk.lines.map((_, at) =>
    isChange.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).includes(true),
  );
  fillShortGaps(keep);
  const out: string[] = [];
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  let heading = hunk.heading === previousHeading ? '' : hunk.heading;
  for (const { from, to } of runsOf(keep, (stays) => stays)) {
    const part = hunk.lines.slice(from, to);
    const oldCount = part.filter((line) => /^(?:[- ]|$)/.test(line)).length;
    const newCount = part.filter((line) => /^(?:[+ ]|$)/.test(line)).length;
    if (keep[from] === true) {
      const header = `@@ -${span(oldLine, oldCount)} +${span(newLine, newCount)} @@${heading}${hunk.eol}`;
      out.push(header, ...(pack ? packSigns(part) : part));
      heading = '';
    } else removed.push({ from: hunk.at + 1 + from, to: hunk.at + 1 + to });
    oldLine += oldCount;
    newLine += newCount;
  }
  return out;
}

function isWordChange(line: string): boolean {
  return WORD_DIFF_MARKERS.some(([open, close]) => {
    const at = line.indexOf(open);
    return at >= 0 && line.includes(close, at + open.length);
  });
}

/**
 * Returns true for a whole new or deleted file: the head of the packed run says the same as the
 * hunk's header.
 */
function isOneRun({ oldStart, newStart, lines }: Hunk): boolean {
  const sign = oldStart === 0 && newStart === 1 ? '+' : '-';
  if (sign === '-' && (oldStart !== 1 || newStart !== 0)) return false;
  return packSigns(lines)[0] !== lines[0];
}

/** Keeps gaps of two lines or fewer, which cost less than the header that would replace them. */
function fillShortGaps(keep: boolean[]): void {
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
