/**
 * The lines of a tool's output that show how it ended: whatever else is left out, the first and
 * last lines, the totals of known runners, and exit statuses stay verbatim. The model needs them to
 * decide what to do next.
 */
import { withoutColours } from '../../../model/classify/colours.ts';
import { openEnvelope } from '../../../model/classify/envelope.ts';
import { isTotals } from '../../../model/classify/totals.ts';
import { stampLength, templateOf } from './score.ts';
import { lineBreaks } from '../../text/line-breaks.ts';
import { MARK } from '../../text/marker.ts';

/** Number of non-blank lines kept at either end; the last ones have the highest priority of all. */
export const END_LINES = 3;
/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;
/** This many of the last equal totals, or statuses of the same form, are kept. */
const MAX_EQUAL = 3;

const EXIT_STATUS =
  /\bexit(?:ed|s|ing)?\b.{0,40}?\b(?:code|status|with)\b\D{0,6}\d|\bexit(?:code|_code|status)? ?[:=]? ?\d+$|\breturn ?code\D{0,4}\d|\bstatus[:=] ?\d+$|^rc ?= ?\d|\bterminated by signal\b/i;

/** Returns whether a line reports totals or a status; colours and time stamps are ignored. */
function endKindOf(line: string): 'totals' | 'status' | undefined {
  const seen = withoutColours(line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line);
  const bare = seen.endsWith('\r') ? seen.slice(0, -1) : seen;
  const message = bare.slice(stampLength(bare));
  if (isTotals(message)) return 'totals';
  return EXIT_STATUS.test(message) ? 'status' : undefined;
}

/** Returns true for a blank line, including one that only sets a colour. */
function isBlank(line: string): boolean {
  return withoutColours(line).trim() === '';
}

function withoutStamp(line: string): string {
  return line.slice(stampLength(line)).trim();
}

/**
 * Returns the indexes of the client's lines around a result: how it ended, that it was truncated,
 * and what to do then; below the result the shell's state and the client's reminders.
 */
export function envelopeLines(text: string): readonly number[] {
  const { prefix, suffix } = openEnvelope(text);
  const below = suffix.split('\n');
  const first = lineBreaks(text) + 1 - below.length;
  return [...textIn(prefix.split('\n')), ...textIn(below).map((at) => first + at)];
}

/** Returns the indexes of non-blank lines. */
function textIn(lines: readonly string[]): readonly number[] {
  return lines.flatMap((line, at) => (isBlank(line) ? [] : [at]));
}

/**
 * Returns the indexes of lines to keep, by priority: the last and first three non-blank ones, and
 * those that show how it ended, from the last on; of equal ones only a few.
 */
export function endingLines(lines: readonly string[]): ReadonlySet<number> {
  const hasText = (at: number): boolean => !isBlank(lines[at]!) && !lines[at]!.startsWith(MARK);
  const first: number[] = [];
  for (let at = 0; at < lines.length && first.length < END_LINES; at++)
    if (hasText(at)) first.push(at);
  const last: number[] = [];
  const summaries: number[] = [];
  const seen = new Map<string, number>();
  for (let at = lines.length - 1; at >= 0; at--) {
    if (!hasText(at)) continue;
    if (last.length < END_LINES) {
      last.push(at);
      continue;
    }
    const what = endKindOf(lines[at]!);
    if (what === undefined) continue;
    const form = what === 'status' ? templateOf(lines[at]!) : withoutStamp(lines[at]!);
    const known = seen.get(form) ?? 0;
    seen.set(form, known + 1);
    if (known < MAX_EQUAL) summaries.push(at);
  }
  return new Set([...last, ...first, ...summaries]);
}
