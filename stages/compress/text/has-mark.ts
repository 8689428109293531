/** Detects texts with apparent svc markers, which are left alone. */
import { cleanLine } from '../rules/log/clean.ts';
import { stampLength } from '../rules/log/score.ts';
import { MARK } from './marker.ts';

/** Longest part of a line before a mark that is inspected, in characters. */
const MAX_BEFORE = 200;
/**
 * Characters before a mark that a step may strip (a diff's sign, line numbers), or that open a
 * comment.
 */
const STRIPPABLE = /^[\s\d+\-→:|>#/*<!;%]*$/;

/**
 * Returns true if a line of the text begins with an apparent svc marker, or would once a step has
 * cleaned or shortened it. Such a text is treated as data, whatever its origin, and sent unchanged,
 * which is also why compressing twice changes nothing. A mark inside a line, as in source code that
 * quotes one, is ordinary text.
 */
export function hasMark(text: string): boolean {
  const lineBreak = /[\n\r]/g;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, lineBreak.lastIndex)) {
    const precedingText = text.slice(Math.max(0, at - MAX_BEFORE), at);
    const start = Math.max(precedingText.lastIndexOf('\n'), precedingText.lastIndexOf('\r')) + 1;
    const before = cleanLine(precedingText.slice(start));
    if (STRIPPABLE.test(before.slice(stampLength(`${before} `)))) return true;
    // After the first mark of a line no other can begin it.
    lineBreak.lastIndex = at;
    if (!lineBreak.test(text)) return false;
  }
  return false;
}
