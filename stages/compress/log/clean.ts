/**
 * A log without what only a terminal needs: colour codes, and the earlier states of a
 * progress bar that painted over itself.
 */
import { withoutColours } from '../../model/classify/colours.ts';
import { costsAtLeast, estimateTokens } from '../../model/tokens.ts';
import type { Apply } from '../rule.ts';
import { MARK } from '../text/marker.ts';
import { dropRedraws, type Redrawn } from './redraw.ts';

const ESCAPE = '\u001b';
// Colour codes after `cat -v`, which prints the escape character as two.
const CARET = '^[[';
const CARET_COLOUR = /\^\[\[[0-9;]{0,32}m/g;

/** A line without colours, and without earlier states of its progress. */
export function cleanLine(line: string): string {
  return redrawn(plainLine(line)).text;
}

function plainLine(line: string): string {
  const plain = withoutColours(line);
  return plain.includes(CARET) ? plain.replace(CARET_COLOUR, '') : plain;
}

function redrawn(line: string): Redrawn {
  return line.includes('\r') ? dropRedraws(line) : { text: line, dropped: 0 };
}

/**
 * Cleans every line and folds runs of equal lines into one with a count. Nothing that can
 * be read is lost but earlier states of progress, and a last line says how many.
 */
export const cleanLog: Apply = (text) => {
  const lines = text.split('\n');
  const isColoured = text.includes(ESCAPE) || text.includes(CARET);
  const plain = isColoured ? lines.map(plainLine) : lines;
  const cleaned = text.includes('\r') ? withoutRedraws(plain) : foldRuns(plain);
  return cleaned === text ? undefined : { text: cleaned, removed: [] };
};

/** The shorter of: with all states of progress, and with the last ones and a note. */
function withoutRedraws(lines: readonly string[]): string {
  const drawn = lines.map(redrawn);
  const dropped = drawn.reduce((sum, line) => sum + line.dropped, 0);
  const last = drawn.map((line) => line.text);
  if (dropped === 0) return foldRuns(last);
  last.splice(last.at(-1) === '' ? -1 : last.length, 0, redrawNote(dropped));
  const short = foldRuns(last);
  const whole = foldRuns(lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
  return costsAtLeast(whole, estimateTokens(short)) ? short : whole;
}

/** Equal lines in a row are one line and a count. */
function foldRuns(lines: readonly string[]): string {
  const out: string[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!;
    let end = index + 1;
    while (end < lines.length && lines[end] === line) end++;
    const repeats = end - index - 1;
    out.push(line);
    if (repeats >= 2 && (line.trim() !== '' || repeats >= 20)) out.push(repeated(repeats));
    else for (let copy = 0; copy < repeats; copy++) out.push(line);
    index = end;
  }
  return out.join('\n');
}

function redrawNote(dropped: number): string {
  return `${MARK}${dropped} earlier ${dropped === 1 ? 'state' : 'states'} of progress in the lines above left out; the source is complete]`;
}

function repeated(times: number): string {
  return `${MARK}the line above ${times} more times]`;
}

const REPEATED = /^\[svc the line above (\d+) more times\]$/;

/** How many more times a line says that the line above stood there; undefined where it says something else. */
export function readRepeated(line: string): number | undefined {
  const times = line.startsWith(MARK) ? REPEATED.exec(line)?.[1] : undefined;
  return times === undefined ? undefined : Number(times);
}

/** The cleaned lines that a folded log stands for. */
export function unfoldLog(text: string): string {
  const out: string[] = [];
  for (const line of text.split('\n')) {
    const times = readRepeated(line);
    if (times === undefined) out.push(line);
    else for (let copy = 0; copy < times; copy++) out.push(out.at(-1)!);
  }
  return out.join('\n');
}
