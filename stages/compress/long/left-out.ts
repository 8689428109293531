/** The markers of lines that a long result leaves out. */
import type { LineRange } from '../rule.ts';
import { MARK, omittedMore } from '../text/marker.ts';
import { askFor } from './ask.ts';

/** `[svc omitted 412 of 1460 lines here (lines 13–424); the source is complete; to see them: Read with offset 13 and limit 412]` */
export function leftOut({ from, to }: LineRange, total: number, words: string): string {
  return `${MARK}omitted ${to - from} of ${total} lines here (lines ${from + 1}–${to}); the source is complete; to see them: ${askFor(words, from, to)}]`;
}

/** For later gaps of the same text; not `isPlain` where the lines are numbered otherwise than in the result. */
export function leftOutMore(range: LineRange, isPlain: boolean): string {
  return isPlain ? omittedMore(range) : omittedMore(range).replace(/\]$/, ' of the file]');
}
