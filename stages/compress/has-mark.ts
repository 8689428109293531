/** Whether a text holds what looks like a marker of ours, and is therefore left alone. */
import { cleanLine } from './log-clean.ts';
import { stampLength } from './log-score.ts';
import { MARK } from './marker.ts';

/** Longest part of a line before a mark that is looked at, in characters. */
const MAX_BEFORE = 80;
/** What a step may take away before a mark (a diff's sign, line numbers), and what opens a comment. */
const NOTHING = /^[\s\d+\-→:|>#/*<!;%]*$/;

/**
 * True if a line of the text begins with what looks like one of our markers, or would once
 * a step has cleaned or shortened it. Such a text is data to us, whoever wrote it, and is
 * sent as it is: that is also why compressing twice changes nothing. A mark inside a line,
 * as in source code that quotes one, is text like any other.
 */
export function hasMark(text: string): boolean {
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - MAX_BEFORE);
    const before = cleanLine(`${text.slice(start, at)}.`).slice(0, -1);
    if (NOTHING.test(before.slice(stampLength(`${before} `)))) return true;
  }
  return false;
}
