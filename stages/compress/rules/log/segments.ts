/**
 * Splits long log lines into segments: a line is scored by its best segment, and one that is too
 * long to keep is cut to the segments that say what failed. Half a word or half a number would be
 * misleading, so segments only end between words or values.
 */
import { costsAtLeast } from '../../../model/tokens.ts';
import { isFailure, scoreLine, stampLength } from './score.ts';
import { MARK } from '../../text/marker.ts';

/** Maximum length of a segment in characters, if the line has places to end it. */
const SEGMENT = 400;
/**
 * Size of the window that is scored at a time, in characters: a segment, or a part of a longer one.
 */
const WINDOW = 500;
/** Windows scored at either end; the middle of a line of a megabyte is skipped. */
const MAX_WINDOWS = 128;
/** Segments that a cut line keeps for their score, besides its first and last. */
const MAX_KEPT = 6;

/** A line and the ends of its segments; the last one is the line's end. */
export interface SegmentedLine {
  readonly line: string;
  readonly ends: readonly number[];
}

/**
 * Splits a line at carriage returns, white space or between values. Joined, the segments are the
 * line.
 */
export function segmentLine(line: string): SegmentedLine {
  if (line.length <= SEGMENT && !line.includes('\r')) return { line, ends: [line.length] };
  const ends: number[] = [];
  let redraw = -1;
  for (let from = 0; from < line.length;) {
    if (redraw < from) redraw = indexFrom(line, '\r', from);
    from = segmentEnd(line, from, redraw);
    ends.push(from);
  }
  return { line, ends };
}

function indexFrom(line: string, sign: string, from: number): number {
  const at = line.indexOf(sign, from);
  return at < 0 ? line.length : at;
}

/**
 * Returns the end of a segment: after the next carriage returns, the last cut in reach, or the
 * first beyond.
 */
function segmentEnd(line: string, from: number, redraw: number): number {
  const reach = from + SEGMENT;
  if (redraw < reach) return endOfRedraw(line, redraw);
  let between = -1;
  for (let at = reach; at > from; at--) {
    const cut = separationAt(line, at);
    if (cut === 'words' && (between < 0 || at > from + SEGMENT / 2)) return at;
    if (cut !== undefined && between < 0) between = at;
  }
  if (between > 0) return between;
  for (let at = reach + 1; at < redraw; at++) if (separationAt(line, at) !== undefined) return at;
  return endOfRedraw(line, redraw);
}

function endOfRedraw(line: string, redraw: number): number {
  let end = redraw;
  while (line[end] === '\r') end++;
  return end;
}

/** Returns what a cut before `at` would separate; undefined inside a word or number. */
function separationAt(line: string, at: number): 'words' | 'values' | undefined {
  const before = line.charCodeAt(at - 1);
  if (before === SPACE || before === TAB) return 'words';
  if (before < 128 ? SEPARATORS[before] === 0 : !WIDE_SEPARATORS.has(before)) return undefined;
  return before === COMMA && isDigit(line, at, 1) && isDigit(line, at - 2, -1)
    ? undefined
    : 'values';
}

const SPACE = 32;
const TAB = 9;
const COMMA = 44;
const SEPARATORS = new Uint8Array(128);
for (const sign of ',;&|"') SEPARATORS[sign.charCodeAt(0)] = 1;
const WIDE_SEPARATORS: ReadonlySet<number> = new Set(
  Array.from('、，。；！？', (sign) => sign.charCodeAt(0)),
);

/** Returns true for a digit at `at`; skips the zero bytes between two-byte letters. */
function isDigit(line: string, at: number, step: 1 | -1): boolean {
  const index = line.charCodeAt(at) === 0 ? at + step : at;
  const code = line.charCodeAt(index);
  return code >= 48 && code <= 57;
}

/** A part of a line that is scored, and the segment it belongs to. */
interface Window {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the windows to score, in order. */
function windowsToScore(ends: readonly number[]): readonly Window[] {
  const bounds = windowEnds(ends);
  const windows: Window[] = [];
  for (let at = 0, segment = 0; at < bounds.length; at++) {
    if (at === MAX_WINDOWS) at = Math.max(at, bounds.length - MAX_WINDOWS);
    while (ends[segment]! < bounds[at]!) segment++;
    windows.push({ segment, from: bounds[at - 1] ?? 0, to: bounds[at]! });
  }
  return windows;
}

/**
 * Returns the ends of the windows: segment ends, and cuts within segments too long for one window.
 */
function windowEnds(ends: readonly number[]): readonly number[] {
  const isLong = (end: number, at: number): boolean => end - (ends[at - 1] ?? 0) > WINDOW;
  if (!ends.some(isLong)) return ends;
  const out: number[] = [];
  for (const end of ends) {
    for (let at = (out.at(-1) ?? 0) + WINDOW; at < end; at += WINDOW) out.push(at);
    out.push(end);
  }
  return out;
}

/** Returns the parts of a line to score, without its time stamp and as one-byte text. */
export function partsToScore({ line, ends }: SegmentedLine): readonly string[] {
  const parts = windowsToScore(ends).map(({ from, to }) => withoutZeroBytes(line.slice(from, to)));
  const first = parts[0] ?? '';
  return [first.slice(stampLength(first)), ...parts.slice(1)];
}

/** Drops the zero bytes of two-byte text that was read as one-byte text. */
function withoutZeroBytes(part: string): string {
  return part.includes('\u0000') ? part.replaceAll('\u0000', '') : part;
}

/**
 * Returns the line after its first `skip` characters if that costs at most `maxTokens`, else its
 * first and last segment and those that say what failed, in order, below a note. A segment longer
 * than two regular ones is dropped whole; if all are that long, the line is kept.
 */
export function cutLine(segmented: SegmentedLine, maxTokens: number, skip = 0): string {
  const { line, ends } = segmented;
  const whole = line.slice(skip);
  if (whole.length < 4 * SEGMENT || fits(whole, maxTokens)) return whole;
  const part = (at: number): string =>
    line.slice(Math.max(skip, ends[at - 1] ?? 0), Math.max(skip, ends[at]!));
  const isShort = (at: number): boolean =>
    part(at).length <= 2 * SEGMENT || fits(part(at), maxTokens);
  const informative = scoredSegments(segmented)
    .filter(({ score }) => isFailure(score))
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .map(({ at }) => at)
    .filter(isShort)
    .slice(0, MAX_KEPT);
  const outer = [0, ends.length - 1].filter(isShort);
  const keep = [...new Set([...informative, ...outer])].toSorted((a, b) => a - b);
  if (keep.length === 0 || keep.length === ends.length) return whole;
  let kept = 0;
  let out = '';
  keep.forEach((at, index) => {
    if (at > (keep[index - 1] ?? -1) + 1) out += '… ';
    out += part(at);
    kept += part(at).length;
  });
  if (keep.at(-1) !== ends.length - 1) out += '…';
  return `${MARK}${kept} of ${whole.length} characters of the next line, cut at each …; the source is complete]\n${out}`;
}

function fits(text: string, maxTokens: number): boolean {
  return !costsAtLeast(text, Math.floor(maxTokens) + 1);
}

/** Returns the scored segments, each with its best score. */
function scoredSegments({ line, ends }: SegmentedLine): readonly { at: number; score: number }[] {
  const scores = new Map<number, number>();
  for (const { segment, from, to } of windowsToScore(ends)) {
    const score = scoreLine(withoutZeroBytes(line.slice(from, to)));
    scores.set(segment, Math.max(score, scores.get(segment) ?? score));
  }
  return [...scores].map(([at, score]) => ({ at, score }));
}
