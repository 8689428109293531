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

/** What runners count, and what became of it. */
const RAN =
  '(?:doc)?tests?|test cases?|examples?|specs?|runs?|scenarios?|steps?|features?|suites?|assertions?|targets?|tasks?|projects?|modules?';
const BECAME =
  'passing|failing|pending|passed|failed|pass|fail|flaky|skipped|ignored|succeeded|successful|completed|did not run|failures?|errors?|known failures?|uncaught exceptions?|unhandled rejections?';

/**
 * Totals as runners print them, each from the beginning of its line: of JavaScript, Python, Rust,
 * Java, Go, Perl, Ruby, C and C++, Elixir, .NET, PHP, Swift, Lua, package managers, git.
 */
const SUMMARIES: readonly RegExp[] = [
  // A label and a number
  /^\s{0,8}(?:Tests?|Test Suites|Test Files|Test cases|Snapshots|Suites|Specs|Scenarios|Steps|Tasks|Packages|Total|TOTAL|Pass(?:ed)?|Ok|Fail(?:ed|ures?)?|Expected Fail|Unexpected Pass|Skipped|Ignored|Pending|Timeouts?|Cached|Errors?|Warnings?|Assertions|Duration|Time|Real|User|Sys|test cases|assertions)(?: +|: *)[-+]?\d/,
  /^(?:#|ℹ) (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) +\d/,
  /^(?:real|user|sys)\t\d/,
  /^1\.\.\d+$/,
  // A number and what became of so many
  new RegExp(`^\\s{0,8}(?:[✔✓✖✗✘*-] {1,4})?\\d+(?:/\\d+)? (?:(?:${RAN}) )?(?:${BECAME})(?![\\w-])`),
  new RegExp(`^\\s{0,4}(?:\\d+ doctests?, )?\\d+ (?:${RAN})\\b.{0,120}\\b\\d+ (?:${BECAME})`),
  /^\d+ success(?:es)? \/ /,
  /^=+ .{0,160}\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b.{0,80} =+$/,
  /^(?:ok|FAILED|FAIL!|SUCCESS!) (?:\||--) \d+ [Pp]assed/,
  /^(?:\[\w+\] )?Tests run: \d/,
  /^(?:\[\w+\] )?(?:BUILD (?:SUCCESS|FAILURE|SUCCESSFUL|FAILED)|Total time:)/,
  /^test result: /,
  /^(?:FAIL|ok|---)[ \t]{1,4}\S{1,200}\t(?:\d|\(cached\)|\[build failed\])/,
  /^(?:OK|FAILED|PASS|FAIL|FAILURES|ERRORS)(?: ?\([^)]{0,120}\))?!?$/,
  /^\[ {2}(?:PASSED|FAILED) {2}\] \d|^\[={8,12}\] \d+ tests? .{0,80}\bran\b/,
  /^(?:All tests successful|All tests passed|Files=\d+, Tests=\d+|Result: (?:PASS|FAIL|NOTESTS))/,
  /^\d+% tests passed, \d+ tests? failed/,
  /^(?:Total Test time \(real\)|The following tests FAILED|Errors while running CTest|No tests were found)/,
  /^(?:Passed|Failed)! +- +Failed: +\d/,
  /^Tests: \d+, Assertions: \d/,
  /^Test Suite '(?:All|Selected) tests' /,
  /^ ?NX {2,4}\S/,
  /^\S{1,80} +: ok=\d+ +changed=\d/,
  // What was done to so many
  /^(?:Ran|Executed|Checked|Scanned|Linted|Inspected|Analy[sz]ed|Resolved|Installed|Prepared|Audited|Uninstalled|Formatted) \d/,
  /^(?:Found|FOUND|found|Reported|Detected) \d+ (?:\w+ ){0,2}(?:errors?|warnings?|problems?|issues?|diagnostics?|violations?|vulnerabilit\w+|ERRORS?|WARNINGS?)/,
  /^\S{0,3} ?\d+ (?:problems?|errors?|warnings?|issues?|offenses?|violations?)\b.{0,80}$/,
  /^\s{0,8}\d+ (?:Warning|Error)\(s\)$/,
  /^\s{0,4}\d+ errors? .{0,80}\bpotentially fixable|^\[\*\] \d+ fixable/,
  /^A TOTAL OF \d|^PHPCBF CAN FIX \d/,
  /^Success: no issues found|^Your code has been rated|^All checks passed|^would reformat|^\d+ files? (?:would be |left |re|inspected)/,
  /^(?:All files +\| +|TOTAL +)\d/,
  /^\d+ (?:errors?|warnings?)(?: generated\.?| and \d+ warnings?.{0,40})?$/,
  // How a build, an installation or a copy ended
  /^\s{0,8}(?:[✨✓✔⚡] {1,3})?(?:Finished|finished|Completed|completed|Done|done|Built|built|Compiled|compiled|Created|created)\b.{0,120}\bin \d/,
  /^(?:Took|Time Elapsed) \d/,
  /^webpack \S{1,20} compiled\b|^[✓✔] \d+ modules transformed/,
  /^(?:added|removed|changed|updated|audited|up to date)\b.{0,120}\bpackages?\b/,
  /^\d+ (?:\w+ )?(?:vulnerabilities|vulnerability)\b/,
  /^Package operations: \d|^\d+ actionable tasks?: /,
  /^\d+ (?:upgraded|newly installed|to upgrade)\b/,
  /^(?:Successfully|Failed) (?:installed|built|uninstalled|tagged|to build)\b/,
  /^(?:error|warning): .{0,160}(?:could not compile|generated \d+ warnings?|aborting due to|\d+ (?:previous )?errors?|test failed)/,
  /^make(?:\[\d+\])?: \*\*\*|^ninja: (?:build stopped|no work|error|fatal)/,
  /^\[100%\] /,
  /^(?:-- )?(?:Configuring (?:done|incomplete)|Build files have been written)/,
  /^Exited with |^(?:INFO: )?(?:[Bb]uild|BUILD|[Cc]ompilation|[Ii]nstallation|Apply|Destroy|Bundle) (?:succeeded|failed|completed?|SUCCEEDED|FAILED|COMPLETE)/,
  /^\*\* [A-Z]{2,10} (?:SUCCEEDED|FAILED) \*\*/,
  /^Plan: \d/,
  /^sent [\d,.KMG]+ bytes |^total size is /,
  // git
  /^\[[\w./ ()-]{1,120} [0-9a-f]{7,40}\] /,
  /^ ?\d+ files? changed\b/,
  /^CONFLICT \(|^Automatic merge failed|^Already up to date|^Everything up-to-date|^HEAD is now at /,
];

/** All of them at once: where each begins at the beginning of a line, one pattern is much quicker than fifty. */
const SUMMARY = new RegExp(SUMMARIES.map(({ source }) => source).join('|'));

const EXIT_STATUS =
  /\bexit(?:ed|s|ing)?\b.{0,40}?\b(?:code|status|with)\b\D{0,6}\d|\bexit(?:code|_code|status)? ?[:=]? ?\d+$|\breturn ?code\D{0,4}\d|\bstatus[:=] ?\d+$|^rc ?= ?\d|\bterminated by signal\b/i;

/** What a line reports about how something ended: totals, or a status. Colours and time stamps are looked through. */
function endTold(line: string): 'totals' | 'status' | undefined {
  const cut = line.length > SEEN ? line.slice(0, SEEN) : line;
  const seen = cut.includes('\u001b') ? withoutColours(cut) : cut;
  const bare = seen.endsWith('\r') ? seen.slice(0, -1) : seen;
  if (!HINTS.test(bare)) return undefined;
  const said = bare.slice(stampLength(bare));
  if (SUMMARY.test(said)) return 'totals';
  return EXIT_STATUS.test(said) ? 'status' : undefined;
}

function unstamped(line: string): string {
  return line.slice(stampLength(line)).trim();
}

/** One of these is in every line that the patterns know. */
const HINTS =
  /\d|OK|FAIL|PASS|BUILD|ERROR|SUCCEED|CONFLICT|ested|uccess|ucceed|ailed|issues|pass|format|omplete|done|files have|build stopped|no work|o date|to-date|NX {2}/;

/**
 * The indexes of lines that stay, in the order of their weight: the last and first three that say
 * something, and those that show how it ended, from the last on; of those that say the same a few.
 */
export function endingLines(lines: readonly string[]): ReadonlySet<number> {
  const says = (at: number): boolean => lines[at]!.trim() !== '' && !lines[at]!.startsWith(MARK);
  const first: number[] = [];
  for (let at = 0; at < lines.length && first.length < ENDS; at++) if (says(at)) first.push(at);
  const last: number[] = [];
  const told: number[] = [];
  const seen = new Map<string, number>();
  for (let at = lines.length - 1; at >= 0; at--) {
    if (!says(at)) continue;
    if (last.length < ENDS) {
      last.push(at);
      continue;
    }
    const what = endTold(lines[at]!);
    if (what === undefined) continue;
    const form = what === 'status' ? templateOf(lines[at]!) : unstamped(lines[at]!);
    const known = seen.get(form) ?? 0;
    seen.set(form, known + 1);
    if (known < SAME) told.push(at);
  }
  return new Set([...last, ...first, ...told]);
}
