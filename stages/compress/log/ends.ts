/**
 * The lines of a tool's output that say how it ended: whatever else is left out, the first and
 * last lines, the totals of known runners, and exit statuses stay to the letter. Readers decide
 * by them what to do next.
 */
import { withoutColours } from '../../model/classify/colours.ts';
import { stampLength, templateOf } from './score.ts';
import { MARK } from '../text/marker.ts';

/** So many lines that are not blank stay at either end. */
const ENDS = 3;
/** Longest part of a line that is looked at, in characters. */
const SEEN = 300;
/** Of totals that say the same, and of statuses of one form, so many of the last stay. */
const SAME = 3;

/** Totals as runners print them: JavaScript, Python, Rust, Java, Go, Perl, Ruby, C and C++, Elixir, .NET, PHP, package managers, git. */
const SUMMARIES: readonly RegExp[] = [
  /^\s{0,8}(?:Tests?|Test Suites|Test Files|Snapshots|Suites|Total|Passed|Failed|Failures|Skipped|Errors|Duration)(?: +|: *)\d/,
  /^(?:#|ℹ) (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) \d/,
  /^1\.\.\d+$/,
  /^\s{0,8}\d+ (?:passing|failing|pending|passed|failed)\b/,
  /^\s{0,4}(?:\d+ doctests?, )?\d+ (?:tests?|examples?|specs?|runs?|scenarios?|steps?|features?|assertions?)\b.{0,120}\b\d+ (?:failures?|failed|errors?|passed|pending)/,
  /^=+ .{0,160}\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b.{0,80} =+$/,
  /^\d+ (?:passed|failed|errors?|skipped)\b.{0,80} in \d/,
  /^(?:\[\w+\] )?Tests run: \d/,
  /^(?:\[\w+\] )?(?:BUILD (?:SUCCESS|FAILURE|SUCCESSFUL|FAILED)|Total time:)/,
  /^test result: /,
  /^(?:FAIL|ok|---) ?\t?\S{1,200}\t\d/,
  /^Ran \d+ tests? in /,
  /^(?:OK|FAILED|PASS|FAIL)(?: ?\([^)]{0,120}\))?!?$/,
  /^(?:All tests successful|Files=\d+, Tests=\d+|Result: (?:PASS|FAIL|NOTESTS))/,
  /^\d+% tests passed, \d+ tests? failed/,
  /^Total Test time \(real\)/,
  /^(?:The following tests FAILED|Errors while running CTest|No tests were found)/,
  /^(?:Found|Reported|Detected) \d+ (?:\w+ ){0,2}(?:errors?|warnings?|problems?|issues?|diagnostics?|violations?|vulnerabilit\w+)/i,
  /^\S{0,3} ?\d+ (?:problems?|errors?|warnings?|issues?|offenses?|violations?)\b.{0,80}$/,
  /^Success: no issues found|^Your code has been rated|^All checks passed|^would reformat|^\d+ files? (?:would be |left |re)/,
  /^Finished in \d/,
  /^(?:Passed|Failed)! +- +Failed: +\d/,
  /^Tests: \d+, Assertions: \d/,
  /^(?:added|removed|changed|updated|audited|up to date)\b.{0,120}\bpackages?\b/,
  /^(?:found )?\d+ (?:\w+ )?(?:vulnerabilities|vulnerability)\b/,
  /^\d+ (?:upgraded|newly installed|to upgrade)\b/,
  /^(?:Successfully|Failed) (?:installed|built|uninstalled|tagged|to build)\b/,
  /^\[[\w./ ()-]{1,120} [0-9a-f]{7,40}\] /,
  /^ ?\d+ files? changed\b/,
  /^ *(?:Finished|Completed) .{0,120} in \d/,
  /^(?:error|warning): .{0,160}(?:could not compile|generated \d+ warnings?|aborting due to|\d+ (?:previous )?errors?)/,
  /^make(?:\[\d+\])?: \*\*\*/,
  /^\[100%\] /,
  /^(?:-- )?(?:Configuring (?:done|incomplete)|Build files have been written)/,
  /^\d+ (?:errors?|warnings?)(?: generated\.?| and \d+ warnings?.{0,40})?$/,
  /^Exited with |^(?:Build|Compilation|Installation) (?:succeeded|failed|complete)/i,
];

const EXIT_STATUS =
  /\bexit(?:ed|s|ing)?\b.{0,40}?\b(?:code|status|with)\b\D{0,6}\d|\bexit(?:code|_code|status)? ?[:=]? ?\d+$|\breturn ?code\D{0,4}\d|\bstatus[:=] ?\d+$|^rc ?= ?\d|\bterminated by signal\b/i;

/** What a line reports about how something ended: totals, or a status. Colours and time stamps are looked through. */
function endTold(line: string): 'totals' | 'status' | undefined {
  const cut = line.length > SEEN ? line.slice(0, SEEN) : line;
  const seen = cut.includes('\u001b') ? withoutColours(cut) : cut;
  const bare = seen.endsWith('\r') ? seen.slice(0, -1) : seen;
  if (!HINTS.test(bare)) return undefined;
  const said = bare.slice(stampLength(bare));
  if (SUMMARIES.some((pattern) => pattern.test(said))) return 'totals';
  return EXIT_STATUS.test(said) ? 'status' : undefined;
}

function unstamped(line: string): string {
  return line.slice(stampLength(line)).trim();
}

/** One of these is in every line that the patterns know. */
const HINTS = /\d|OK|FAIL|PASS|BUILD|ested|uccess|ailed|issues|checks? pass|format|done|files have/;

/**
 * The indexes of lines that stay: the first and last three that say something, and those that
 * show how it ended; of those that say the same the last few.
 */
export function endingLines(lines: readonly string[]): ReadonlySet<number> {
  const out = new Set<number>();
  const says = (at: number): boolean => lines[at]!.trim() !== '' && !lines[at]!.startsWith(MARK);
  for (let at = 0, found = 0; at < lines.length && found < ENDS; at++)
    if (says(at)) found = out.add(at).size;
  const seen = new Map<string, number>();
  for (let at = lines.length - 1, found = 0; at >= 0; at--) {
    if (!says(at)) continue;
    found++;
    const told = found <= ENDS ? 'end' : endTold(lines[at]!);
    if (told === 'status' || told === 'totals') {
      const form = told === 'status' ? templateOf(lines[at]!) : unstamped(lines[at]!);
      const known = seen.get(form) ?? 0;
      seen.set(form, known + 1);
      if (known >= SAME) continue;
    }
    if (told !== undefined) out.add(at);
  }
  return out;
}
