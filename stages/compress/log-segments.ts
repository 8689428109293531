/**
 * Long lines of logs in segments: a line is scored by its best segment, and one that is
 * too long to keep is cut to those that say what failed.
 */
import { estimateTokens } from '../model/tokens.ts';
import { isFailure, scoreLine, stampLength } from './log-score.ts';
import { MARK } from './marker.ts';

/** Longest segment, in characters: what a score looks at. */
const SEGMENT = 400;
/** Segments at either end that are looked at; the middle of a line of a megabyte is not. */
const MAX_SEGMENTS = 128;
/** Segments that a cut line keeps for what they say, beside its first and last. */
const MAX_KEPT = 6;

/** The line without its time stamp, in one segment or, where it is long or redrawn, in several. */
export function segmentsOf(line: string): readonly string[] {
  // Two-byte text that was read as one-byte text has a zero behind every letter.
  const text = line.includes('\u0000') ? line.replaceAll('\u0000', '') : line;
  const bare = text.slice(stampLength(text));
  if (bare.length <= SEGMENT && !bare.includes('\r')) return [bare];
  const all = split(bare);
  return all.filter((_, at) => isSeen(at, all.length));
}

function isSeen(at: number, count: number): boolean {
  return at < MAX_SEGMENTS || at >= count - MAX_SEGMENTS;
}

/** Cuts at carriage returns and at white space or, where there is none, anywhere. Joined, they are the text. */
function split(text: string): readonly string[] {
  const out: string[] = [];
  for (let from = 0; from < text.length;) {
    const part = text.slice(from, from + SEGMENT);
    const end = endOf(part, from + part.length >= text.length);
    out.push(part.slice(0, end));
    from += end;
  }
  return out;
}

function endOf(part: string, isLast: boolean): number {
  const redraw = part.indexOf('\r');
  if (redraw >= 0) return redraw + 1;
  if (isLast) return part.length;
  const space = part.lastIndexOf(' ');
  return space > SEGMENT / 2 ? space + 1 : part.length;
}

/**
 * The line itself where it costs at most `maxTokens`, else its first and last segment and
 * those that say what failed, in order, below a note. Nothing inside a segment is left out.
 */
export function cutLine(line: string, maxTokens: number): string {
  if (line.length < 4 * SEGMENT || estimateTokens(line) <= maxTokens) return line;
  const all = split(line);
  const telling = all
    .map((part, at) => ({ at, score: isSeen(at, all.length) ? scoreLine(part) : 0 }))
    .filter(({ score }) => isFailure(score))
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MAX_KEPT);
  const keep = new Set([0, all.length - 1, ...telling.map(({ at }) => at)]);
  let kept = 0;
  let out = '';
  for (const at of [...keep].toSorted((a, b) => a - b)) {
    if (at > 0 && !keep.has(at - 1)) out += '… ';
    out += all[at]!;
    kept += all[at]!.length;
  }
  return `${MARK}${kept} of ${line.length} characters of the next line, cut at each …; the source is complete]\n${out}`;
}
