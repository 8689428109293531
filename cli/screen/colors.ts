/**
 * Colours that only this process can produce. Each sequence carries a random seal, and only sealed
 * sequences become colours: a model called `ESC[31m…` is shown as plain characters.
 */
import { randomInt } from 'node:crypto';

type Paint = (text: string) => string;

/** Functions that colour a text, or leave it unchanged. */
export interface Colors {
  readonly isWanted: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** Four digits each: libraries that measure text width do not recognize longer parameters. */
const SEAL = [0, 0, 0].map(() => randomInt(1000, 10_000)).join(';');

const SEALED = new RegExp(String.raw`\u001b\[(\d{1,2});${SEAL}m`, 'g');

/** Creates colours, or functions that change nothing. */
export function createColors(isWanted: boolean): Colors {
  const paint = (on: number, off: number): Paint =>
    isWanted ? (text) => `\u001b[${on};${SEAL}m${text}\u001b[${off};${SEAL}m` : (text) => text;
  return {
    isWanted,
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

/** Returns `text` with `change` applied to everything but our own sequences. */
export function mapUncolored(text: string, change: (piece: string) => string): string {
  let out = '';
  let from = 0;
  for (const match of text.matchAll(SEALED)) {
    out += change(text.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return out + change(text.slice(from));
}

/** Returns the lines that `change` makes of a text, each in the colour of the whole text. */
export function linesInColor(text: string, change: (bare: string) => string[]): string[] {
  const bare = withoutColors(text);
  const at = text.indexOf(bare);
  // Colours inside a text would have to be opened and closed on each line.
  if (at < 0) return change(bare);
  return change(bare).map((line) => text.slice(0, at) + line + text.slice(at + bare.length));
}

/** Returns `text` without our own sequences. */
export function withoutColors(text: string): string {
  return text.replace(SEALED, '');
}

/** Returns `text` with terminal colour sequences. */
export function forTerminal(text: string): string {
  return text.replace(SEALED, '\u001b[$1m');
}
