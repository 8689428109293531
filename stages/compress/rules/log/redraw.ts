/**
 * Drops redraws from lines with carriage returns. A terminal shows only the last piece, but the
 * content of a log matters too: of the pieces that show the same progress the last one is kept, and
 * so is every other piece.
 */
import { hasInformativeNumber, hasInformativeWord } from './score.ts';

/** Longest part of a piece that is compared, in characters. */
const MAX_COMPARED_CHARS = 400;
/** Maximum number of pieces of a line, and of forms of them, that are remembered. */
const MAX_PIECES = 2000;
/** A percentage, a count of a total, a rate, a bar, a spinner or waiting dots. */
const PROGRESS =
  /\d ?%|\d ?\/ ?\d|\d of \d|\d ?[kKMGT]i?B\b|[\u2500-\u25ff\u2800-\u28ff]|[=#*>.-]{3}|[|/\\-]$|^[|/\\-] /;
const WARNING = /warn|deprecat|caution|attention|notice/i;
const DIGITS = /\d+/g;
const NUMBER = /\d+(?:[.,:]\d+)*(?: ?(?:[kKMGT]?i?[Bb](?:\/s)?|ms|s|m|h|d)\b)?/g;

/** A line without earlier progress states. */
export interface Redrawn {
  readonly text: string;
  /** Number of dropped pieces; white space that was painted over does not count. */
  readonly dropped: number;
}

/** Drops redraws, and a carriage return at the end of the line. */
export function dropRedraws(line: string): Redrawn {
  const visible = visibleEnd(line, line.length);
  // Fast path: every line with a Windows line ending passes here, and few have more than one piece.
  if (visible > 0 && line.lastIndexOf('\r', visible - 1) < 0)
    return { text: line.slice(0, visible), dropped: 0 };
  const pieceOf = rememberPieces();
  const kept: string[] = [];
  let pieces = 0;
  let later: Piece | undefined;
  // Backwards, as a piece is dropped because of the next non-blank one.
  for (let end = visible; end > 0;) {
    const start = line.lastIndexOf('\r', end - 1) + 1;
    const piece = pieceOf(line.slice(start, end));
    end = visibleEnd(line, start - 1);
    pieces++;
    if (later === undefined || !isEarlierState(piece, later)) kept.push(piece.text);
    later = piece;
  }
  return { text: kept.toReversed().join('\r'), dropped: pieces - kept.length };
}

/** Returns the end of the last non-blank piece before `end`; 0 where there is none. */
function visibleEnd(line: string, end: number): number {
  let at = Math.max(0, end);
  while (at > 0 && isBlank(line.charCodeAt(at - 1))) at--;
  if (at === 0) return 0;
  const redraw = line.indexOf('\r', at);
  return redraw < 0 ? end : Math.min(redraw, end);
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** Shared data of all pieces that differ only in their numbers. */
interface Form {
  readonly text: string;
  shape?: string;
  isQuiet?: boolean;
}

/** Shared data of all pieces with the same text. */
interface Piece {
  readonly text: string;
  /** Absent if the line has too many. */
  readonly form: Form | undefined;
  isProgress?: boolean;
}

/**
 * Returns a lookup of piece data. A line of a megabyte has many pieces but, numbers aside, few
 * forms: each is analysed once, and any form beyond the limit counts as different.
 */
function rememberPieces(): (text: string) => Piece {
  const pieces = new Map<string, Piece>();
  const forms = new Map<string, Form>();
  const formOf = (seen: string): Form | undefined => {
    const key = seen.replace(DIGITS, '0');
    const form = forms.get(key) ?? (forms.size < MAX_PIECES ? { text: key } : undefined);
    if (form !== undefined) forms.set(key, form);
    return form;
  };
  return (text) => {
    const known = pieces.get(text);
    if (known !== undefined) return known;
    const seen = comparedText(text);
    const piece = { text, form: PROGRESS.test(seen) ? formOf(seen) : undefined };
    if (pieces.size < MAX_PIECES) pieces.set(text, piece);
    return piece;
  };
}

function comparedText(text: string): string {
  return text.slice(0, MAX_COMPARED_CHARS).trim();
}

/**
 * Returns true if a piece has the same content as the later one, or is an earlier state of its
 * progress.
 */
function isEarlierState(piece: Piece, later: Piece): boolean {
  if (piece.text === later.text) return true;
  piece.isProgress ??= isProgress(piece);
  const { form } = piece;
  if (!piece.isProgress || form === undefined) return false;
  const next = later.form ?? { text: comparedText(later.text) };
  if (next === form) return true;
  return isContinuedBy((form.shape ??= shapeOf(form.text)), (next.shape ??= shapeOf(next.text)));
}

function isProgress({ text, form }: Piece): boolean {
  if (form === undefined || hasInformativeNumber(comparedText(text))) return false;
  form.isQuiet ??= !WARNING.test(form.text) && !hasInformativeWord(form.text);
  return form.isQuiet;
}

/**
 * Returns the words of a piece, with a placeholder for numbers and without bars, spinners and
 * units.
 */
function shapeOf(text: string): string {
  return text
    .replace(NUMBER, '#')
    .replace(/[^\p{L}#]+/gu, ' ')
    .replace(/#[# ]*/g, '# ')
    .trim();
}

/** Returns true if the later piece repeats the earlier one or continues it: `done.` */
function isContinuedBy(earlier: string, later: string): boolean {
  return later === earlier || later.startsWith(`${earlier} `);
}
