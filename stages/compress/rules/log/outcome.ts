/**
 * Whether a run went well, as far as its output shows. What a step of a run that went well printed
 * says little; where it failed, the last step that was begun may be all that names what failed.
 */
import { withoutColours } from '../../../model/classify/colours.ts';
import { isFailure, isSuspicious, scoreLine, stampLength } from './score.ts';

/** Longest part of a line that is looked at, in characters. */
const SEEN = 300;
/** So much of a document around a text is looked at. */
const FRAMED = 2000;
/** So many of the last lines that are not blank tell of the end: there a word is enough. */
const LAST = 3;

/** How harnesses and shells report a status other than 0, and programs that something stopped them. */
const ENDED_BADLY =
  /(?:\bexit(?:ed)?(?:[ _]?(?:code|status))?|\breturn ?code|\bstatus code|\bexited with (?:code )?)["']?[>: =]{0,4}(?:with )?(?:code |status )?-?[1-9]\d{0,4}\b|^(?:E|Err|ERR!?)(?::|\s)|\*{3} .{0,200}(?:Error \d|Stop\.|separator)|\bcommand not found\b|\b(?:timed out|terminated|interrupted|aborted|killed|cancell?ed by)\b|^\^C|\bCommand is (?:still )?running\b/i;
/** Words of an end that is no good one. */
const BAD_END =
  /\b(?:error|errors|failed|fails?|failure|fatal|cannot|can't|could not|couldn't|unable|denied|refused|incomplete|stopped|not found|no such)\b/i;
/** What stands before a message in boxes and trees. */
const FRAME = /^[\s│┃|>╷╵├└─·*➤-]+(?=\S)/;
const NONE_FAILED =
  /\b(?:0|no|zero) (?:tests? )?(?:errors?|failures?|failed|faults)\b|\b(?:errors?|failed|failures)\b[:=] ?0\b/gi;
/** What only warns: the run goes on. */
const WARNS = /^(?:npm )?(?:warn(?:ing)?|notice|hint|note)\b|\bwarning: /i;

/** True where what a client wrote around a text reports a status other than 0. */
export function endsBadly(frame: string): boolean {
  return ENDED_BADLY.test(frame.length > FRAMED ? frame.slice(0, FRAMED) : frame);
}

/** True where a line of the output states that the run, or a part of it, did not go well. */
export function statesFailure(lines: readonly string[]): boolean {
  let left = LAST;
  for (let at = lines.length - 1; at >= 0; at--) {
    const cut = lines[at]!.length > SEEN ? lines[at]!.slice(0, SEEN) : lines[at]!;
    const plain = withoutColours(cut).trimEnd();
    const line = plain.slice(stampLength(plain)).replace(NONE_FAILED, ' ');
    if (line.trim() === '') continue;
    if (ENDED_BADLY.test(line)) return true;
    if (left-- > 0 && BAD_END.test(line) && !WARNS.test(line)) return true;
    if (!isSuspicious(line) || WARNS.test(line)) continue;
    if (isFailure(scoreLine(line, true)) || isFailure(scoreLine(line.replace(FRAME, ''), true)))
      return true;
  }
  return false;
}
