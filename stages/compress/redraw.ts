/**
 * What carriage returns leave of a line. A terminal shows the last piece only, but a log
 * is read for what was said: of pieces that show the same progress the last one stays, and
 * every other piece stays.
 */
import { isSuspicious } from './log-score.ts';

/** Longest part of a piece that is compared, in characters. */
const COMPARED = 400;
/** A share, a count of a total, a rate, a bar, a spinner or waiting dots. */
const PROGRESS =
  /\d ?%|\d ?\/ ?\d|\d of \d|\d ?[kKMGT]i?B\b|[\u2500-\u25ff\u2800-\u28ff]|[=#*>.-]{3}|[|/\\-]$|^[|/\\-] /;
const WARNING = /warn|deprecat|caution|attention|notice/i;
const NUMBER = /\d+(?:[.,:]\d+)*(?: ?(?:[kKMGT]?i?[Bb](?:\/s)?|ms|s|m|h|d)\b)?/g;

/** A line without the earlier states of its progress. */
export interface Redrawn {
  readonly text: string;
  /** Pieces that are gone; white space painted over a line does not count. */
  readonly dropped: number;
}

/** Leaves out redraws. A carriage return at the end of the line goes too. */
export function dropRedraws(line: string): Redrawn {
  const pieces = line.split('\r').filter((piece) => piece.trim() !== '');
  const shapes = pieces.map(shapeOf);
  const kept = pieces.filter((piece, at) => {
    const next = pieces[at + 1];
    if (next === undefined || piece === next) return next === undefined;
    return !isProgress(piece) || !saysAgain(shapes[at]!, shapes[at + 1]!);
  });
  return { text: kept.join('\r'), dropped: pieces.length - kept.length };
}

function isProgress(piece: string): boolean {
  const text = piece.slice(0, COMPARED).trim();
  return PROGRESS.test(text) && !WARNING.test(text) && !isSuspicious(text);
}

/** The words of a piece, with a sign for numbers; bars, spinners and units go. */
function shapeOf(piece: string): string {
  return piece
    .slice(0, COMPARED)
    .replace(NUMBER, '#')
    .replace(/[^\p{L}#]+/gu, ' ')
    .replace(/#[# ]*/g, '# ')
    .trim();
}

/** The later piece says the same, or goes on where the earlier one ended: `done.` */
function saysAgain(earlier: string, later: string): boolean {
  return later === earlier || later.startsWith(`${earlier} `);
}
