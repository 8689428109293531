/**
 * What a terminal shows of a log: without colour codes, and with only the last state of a
 * line that a progress bar painted over. Line numbers stay those of the input.
 */
import type { Compressed, Compressor } from './compressor.ts';
import { MARK } from './marker.ts';

const ESCAPE = '\u001b';
// CSI sequences, OSC sequences with their terminator, and two-byte escapes.
const ANSI =
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed here
  /\u001b(?:\[[0-9;?]{0,32}[ -/]?[@-~]|\][^\u0007\u001b]{0,400}(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

// The same colour codes after `cat -v`, which prints the escape character as two.
const CARET_COLOUR = /\^\[\[[0-9;]{0,32}m/g;

/** A line as a terminal leaves it: colours gone, overwritten beginnings gone, backspaces applied. */
export function cleanLine(line: string): string {
  let out = line;
  if (out.includes(ESCAPE)) out = out.replace(ANSI, '');
  if (out.includes('^[[')) out = out.replace(CARET_COLOUR, '');
  if (out.includes('\r')) {
    const end = out.endsWith('\r') ? out.length - 1 : out.length;
    out = out.slice(out.lastIndexOf('\r', end - 1) + 1, end);
  }
  return out;
}

/** Cleans every line and folds runs of equal lines into one with a count. Nothing that can be read is lost. */
export const cleanLog: Compressor = {
  name: 'log-clean',
  classes: ['log', 'trace'],
  apply(text): Compressed | undefined {
    const lines = text.split('\n').map(cleanLine);
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
    const cleaned = out.join('\n');
    return cleaned === text ? undefined : { text: cleaned, removed: [] };
  },
};

function repeated(times: number): string {
  return `${MARK}the line above ${times} more times]`;
}

const REPEATED = /^\[svc the line above (\d+) more times\]$/;

/** The cleaned lines that a folded log stands for. */
export function unfoldLog(text: string): string {
  const out: string[] = [];
  for (const line of text.split('\n')) {
    const times = REPEATED.exec(line)?.[1];
    if (times === undefined) out.push(line);
    else for (let copy = 0; copy < Number(times); copy++) out.push(out.at(-1)!);
  }
  return out.join('\n');
}
