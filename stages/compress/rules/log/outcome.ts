/**
 * Whether a run succeeded, judging by its output. The steps of a successful run matter little; in a
 * failed run the last step that started may be the only hint at what failed.
 */
import { withoutColours } from '../../../model/classify/colours.ts';
import { isFailure, isSuspicious, scoreLine, stampLength } from './score.ts';

/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;
/** Longest part of an enclosing document that is inspected, in characters. */
const MAX_FRAME_CHARS = 2000;
/** Number of last non-blank lines that count as the end; there a single word is enough evidence. */
const END_LINES = 3;

/** How clients and shells report a non-zero exit status, and programs an abort. */
const FAILED_EXIT =
  /(?:\bexit(?:ed)?(?:[ _]?(?:code|status))?|\breturn ?code|\bstatus code|\bexited with (?:code )?)["']?[>: =]{0,4}(?:with )?(?:code |status )?-?[1-9]\d{0,4}\b|^(?:E|Err|ERR!?)(?::|\s)|\*{3} .{0,200}(?:Error \d|Stop\.|separator)|\bcommand not found\b|\b(?:timed out|terminated|interrupted|aborted|killed|cancell?ed by)\b|^\^C|\bCommand is (?:still )?running\b/i;
/** Words that mark a failed end. */
const FAILURE_WORDS =
  /\b(?:error|errors|failed|fails?|failure|fatal|cannot|can't|could not|couldn't|unable|denied|refused|incomplete|stopped|not found|no such)\b/i;
/** Line-drawing characters before a message in boxes and trees. */
const BOX_CHARACTERS = /^[\s│┃|>╷╵├└─·*➤-]+(?=\S)/;
const NONE_FAILED =
  /\b(?:0|no|zero) (?:tests? )?(?:errors?|failures?|failed|faults)\b|\b(?:errors?|failed|failures)\b[:=] ?0\b/gi;
/** Warnings: the run continues. */
const WARNING = /^(?:npm )?(?:warn(?:ing)?|notice|hint|note)\b|\bwarning: /i;

/** Returns true if the client's frame around a text reports a non-zero exit status. */
export function reportsFailedExit(frame: string): boolean {
  return FAILED_EXIT.test(frame.length > MAX_FRAME_CHARS ? frame.slice(0, MAX_FRAME_CHARS) : frame);
}

/** Returns true if a line of the output states that the run, or a part of it, failed. */
export function statesFailure(lines: readonly string[]): boolean {
  let linesLeft = END_LINES;
  for (let at = lines.length - 1; at >= 0; at--) {
    const start =
      lines[at]!.length > MAX_LINE_CHARS ? lines[at]!.slice(0, MAX_LINE_CHARS) : lines[at]!;
    const plain = withoutColours(start).trimEnd();
    const line = plain.slice(stampLength(plain)).replace(NONE_FAILED, ' ');
    if (line.trim() === '') continue;
    if (FAILED_EXIT.test(line)) return true;
    if (linesLeft-- > 0 && FAILURE_WORDS.test(line) && !WARNING.test(line)) return true;
    if (!isSuspicious(line) || WARNING.test(line)) continue;
    if (
      isFailure(scoreLine(line, true)) ||
      isFailure(scoreLine(line.replace(BOX_CHARACTERS, ''), true))
    )
      return true;
  }
  return false;
}
