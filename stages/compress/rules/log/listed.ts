/**
 * Commands that were run for the list that they print: what a dry run would do, every revision, every
 * test. Each of its lines is what was asked for, however long it is.
 */
import { statesFailure } from './outcome.ts';

/** So much of a command is looked at, in characters. */
const SEEN = 400;
const DRY_RUN =
  /(?:^|\s)--(?:dry-?run|simulate|what-?if|list\w{0,20})\b|\b(?:rsync|make|gmake)\b[^|;&\n]{0,80} -[A-Za-z]{0,12}n[A-Za-z]{0,12}\b/i;
/** The verb behind a program and its options. */
const LISTS =
  /(?:^|[\s;&|])[\w./-]{1,60}(?: -{1,2}[\w=./-]{1,40}){0,4} (?:history|list|ls|heads|routes)\b/;

/** True where nothing says that such a command failed. */
export function isListAskedFor(
  call: string | undefined,
  lines: readonly string[],
  isFailed = false,
): boolean {
  if (call === undefined || isFailed) return false;
  const seen = call.slice(0, SEEN);
  return (DRY_RUN.test(seen) || LISTS.test(seen)) && !statesFailure(lines);
}
