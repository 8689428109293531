/**
 * Colours that only we can give. Each sequence carries a seal that nobody outside this process
 * knows, and only what carries it becomes a colour: a model that is called `ESC[31m…` is shown
 * by its characters.
 */
import { randomInt } from 'node:crypto';

type Paint = (text: string) => string;

/** Functions that colour a text, or leave it as it is. */
export interface Colors {
  readonly isWanted: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** Four digits each: longer parameters are none to those who measure how wide a text is. */
const SEAL = [0, 0, 0].map(() => randomInt(1000, 10_000)).join(';');

const SEALED = new RegExp(String.raw`\u001b\[(\d{1,2});${SEAL}m`, 'g');

/** Colours, or functions that change nothing. */
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

/** `text` with `change` applied to all of it but our own sequences. */
export function aroundColors(text: string, change: (piece: string) => string): string {
  let out = '';
  let from = 0;
  for (const match of text.matchAll(SEALED)) {
    out += change(text.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return out + change(text.slice(from));
}

/** The lines that `change` makes of a text, each in the colour that the whole text has. */
export function linesInColor(text: string, change: (bare: string) => string[]): string[] {
  const bare = withoutColors(text);
  const at = text.indexOf(bare);
  // Colours in the middle of a text would have to be opened and closed on each line.
  if (at < 0) return change(bare);
  return change(bare).map((line) => text.slice(0, at) + line + text.slice(at + bare.length));
}

/** `text` without our own sequences. */
export function withoutColors(text: string): string {
  return text.replace(SEALED, '');
}

/** `text` as a terminal takes it. */
export function forTerminal(text: string): string {
  return text.replace(SEALED, '\u001b[$1m');
}
