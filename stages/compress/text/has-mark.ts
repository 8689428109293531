/** Whether a text holds what looks like a marker of ours, and is therefore left alone. */
import { cleanLine } from '../rules/log/clean.ts';
import { stampLength } from '../rules/log/score.ts';
import { MARK } from './marker.ts';

/** Longest part of a line before a mark that is looked at, in characters. */
const MAX_BEFORE = 200;
/** What a step may take away before a mark (a diff's sign, line numbers), and what opens a comment. */
const NOTHING = /^[\s\d+\-→:|>#/*<!;%]*$/;

/**
 * True if a line of the text begins with what looks like one of our markers, or would once
 * a step has cleaned or shortened it. Such a text is data to us, whoever wrote it, and is
 * sent as it is: that is also why compressing twice changes nothing. A mark inside a line,
 * as in source code that quotes one, is text like any other.
 */
export function hasMark(text: string): boolean {
  const lineBreak = /[\n\r]/g;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, lineBreak.lastIndex)) {
    const near = text.slice(Math.max(0, at - MAX_BEFORE), at);
    const start = Math.max(near.lastIndexOf('\n'), near.lastIndexOf('\r')) + 1;
    const before = cleanLine(near.slice(start));
    if (NOTHING.test(before.slice(stampLength(`${before} `)))) return true;
    // Behind the first mark of a line no other can begin it.
    lineBreak.lastIndex = at;
    if (!lineBreak.test(text)) return false;
  }
  return false;
}
