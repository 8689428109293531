/**
 * Removes what only a terminal needs from a log: colour codes, and earlier states of a progress bar
 * that redrew itself.
 */
import { withoutColours } from '../../../model/classify/colours.ts';
import { costsAtLeast, estimateTokens } from '../../../model/tokens.ts';
import type { Apply } from '../rule.ts';
import { MARK } from '../../text/marker.ts';
import { foldRepeats } from '../../text/repeats.ts';
import { dropRedraws, type Redrawn } from './redraw.ts';

const ESCAPE = '\u001b';
// Colour codes in `cat -v` output, which prints the escape character as two.
const CARET_ESCAPE = '^[[';
const CARET_COLOUR = /\^\[\[[0-9;]{0,32}m/g;

/**
 * Moves the cursor to the first column, so the terminal overwrites the line as after a carriage
 * return.
 */
const FIRST_COLUMN = new RegExp(`${ESCAPE}\\[[01]?G`, 'g');
/** Underlined text; in a list of choices it is the selected one, which nothing else shows. */
const UNDERLINED = new RegExp(`${ESCAPE}\\[4m([^${ESCAPE}\r]{1,80})`, 'g');
/** Placeholders around an underlined part while colours are removed. */
const BEGIN = '\u0001';
const END = '\u0002';
const UNDERLINED_PART = `${BEGIN}([^${END}]{1,80})${END}`;
const SELECTED_PART = new RegExp(`(?<=[/|] ?)${UNDERLINED_PART}|${UNDERLINED_PART}(?= ?[/|])`, 'g');
const PLACEHOLDERS = new RegExp(`[${BEGIN}${END}]`, 'g');

/** Returns a line without colours and without earlier states of its progress. */
export function cleanLine(line: string): string {
  return redrawn(plainLine(line)).text;
}

function plainLine(line: string): string {
  const plain = line.includes(ESCAPE) ? withoutSequences(line) : line;
  return plain.includes(CARET_ESCAPE) ? plain.replace(CARET_COLOUR, '') : plain;
}

function withoutSequences(line: string): string {
  if (!line.includes(`${ESCAPE}[4m`)) return withoutColours(line.replace(FIRST_COLUMN, '\r'));
  const withPlaceholders = line.replace(PLACEHOLDERS, '').replace(UNDERLINED, `${BEGIN}$1${END}`);
  return withoutColours(withPlaceholders.replace(FIRST_COLUMN, '\r'))
    .replace(SELECTED_PART, `${ESCAPE}[4m$1$2${ESCAPE}[24m`)
    .replace(PLACEHOLDERS, '');
}

function redrawn(line: string): Redrawn {
  return line.includes('\r') ? dropRedraws(line) : { text: line, dropped: 0 };
}

/**
 * Cleans every line and folds runs of equal lines into one with a count. The only readable text
 * lost is earlier progress states, and a last line says how many.
 */
export const cleanLog: Apply = (text) => {
  const lines = text.split('\n');
  const isColoured = text.includes(ESCAPE) || text.includes(CARET_ESCAPE);
  const plain = isColoured ? lines.map(plainLine) : lines;
  const isRedrawn = plain.some((line) => line.includes('\r'));
  const cleaned = isRedrawn ? withoutRedraws(plain) : foldRepeats(plain);
  return cleaned === text ? undefined : { text: cleaned, removed: [] };
};

/** Returns the shorter of: with all progress states, and with the last ones and a note. */
function withoutRedraws(lines: readonly string[]): string {
  const redrawnLines = lines.map(redrawn);
  const dropped = redrawnLines.reduce((sum, line) => sum + line.dropped, 0);
  const last = redrawnLines.map((line) => line.text);
  if (dropped === 0) return foldRepeats(last);
  last.splice(last.at(-1) === '' ? -1 : last.length, 0, redrawNote(dropped));
  const short = foldRepeats(last);
  const whole = foldRepeats(lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
  return costsAtLeast(whole, estimateTokens(short)) ? short : whole;
}

function redrawNote(dropped: number): string {
  return `${MARK}${dropped} earlier ${dropped === 1 ? 'state' : 'states'} of progress in the lines above left out; the source is complete]`;
}
