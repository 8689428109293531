/**
 * Totals: lines in which programs report how their work ended. A text with a test runner's totals
 * is the log of a run, whatever comes above; and whatever is left out of a log, these lines stay.
 */

import { anyOf } from './any-of.ts';
import { LINE_CAP } from './features.ts';

/** What runners count, and the result. */
const COUNTED_THINGS =
  '(?:doc)?tests?|test cases?|examples?|specs?|runs?|scenarios?|steps?|features?|suites?|assertions?|targets?|tasks?|projects?|modules?';
const RESULTS =
  'passing|failing|pending|passed|failed|pass|fail|flaky|skipped|ignored|succeeded|successful|completed|did not run|failures?|errors?|known failures?|uncaught exceptions?|unhandled rejections?';

/**
 * Lines that only runners of tests, linters and builds print, each anchored at the start of a line:
 * of JavaScript, Python, Rust, Java, Go, Perl, Ruby, C and C++, Elixir, .NET, PHP, Swift, Lua,
 * package managers.
 */
const OF_RUNNERS: readonly RegExp[] = [
  /^\* {1,3}(?:Trying|Connected to|Closing connection|Failed to connect|Could not resolve|Host \S+ was resolved|connect to) ?|^--\d{4}-\d\d-\d\d \d\d:\d\d:\d\d-- {1,2}\S/,
  /^Initializing (?:the backend|provider plugins|modules)\.{3}$|^CONFLICT \(|^Automatic merge failed/,
  /^Failed tests:$|^=[A-Z]{4,10} REPORT====|^(?:Format|Code style) issues (?:found|were)|^All matched files use |^Finished in \d+m?s on \d+ files?/,
  /^\s{0,4}\d+ (?:passed|failed|flaky|skipped|did not run) \(\d|^Running \d+ tests? using \d+ workers?/,
  /^ ?[✓✔⚡] (?:Compiled (?:successfully|\S{1,200} in )|Ready in \d)|^(?:Packages: [+-]\d|Progress: resolved \d)/,
  /^\s*\^-+\^? SC\d{4} \(|^Operations to perform:$/,
  /^\[[\w./ ()-]{1,120} [0-9a-f]{7,40}\] |^remote: (?:Counting|Enumerating|Resolving|Compressing) |^Fast-forward$|^ {3}[0-9a-f]{7,40}\.\.[0-9a-f]{7,40} +\S+ +-> | ! \[rejected\] /,
  /^ {2}(?:\d+ (?:passing|failing)\b|(?:passing|failing): +\d)|^TAP version 1\d$|^This is \w{0,12}TeX, Version \d|^build (?:succeeded|finished)\b|^sending incremental file list$|^ff(?:mpeg|probe) version \S|^rake aborted!$|^\*\* (?:Invoke|Execute) \S/,
  /^OK \(\d+ tests?, \d+ assertions?\)$/,
  /^(?:#|ℹ) (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) +\d/,
  new RegExp(
    `^\\s{0,4}(?:\\d+ doctests?, )?\\d+ (?:${COUNTED_THINGS})\\b.{0,120}\\b\\d+ (?:${RESULTS})`,
  ),
  /^\d+ success(?:es)? \/ /,
  /^=+ .{0,160}\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b.{0,80} =+$/,
  /^(?:ok|FAILED|FAIL!|SUCCESS!) (?:\||--) \d+ [Pp]assed/,
  /^(?:\[\w+\] )?Tests run: \d/,
  /^(?:\[\w+\] )?(?:BUILD (?:SUCCESS|FAILURE|SUCCESSFUL|FAILED)|Total time:)/,
  /^test result: /,
  /^(?:FAIL|ok|---)[ \t]{1,4}\S{1,200}\t(?:\d|\(cached\)|\[build failed\])/,
  /^\[ {2}(?:PASSED|FAILED) {2}\] \d|^\[={8,12}\] \d+ tests? .{0,80}\bran\b/,
  /^(?:All tests successful|All tests passed|Files=\d+, Tests=\d+|Result: (?:PASS|FAIL|NOTESTS))/,
  /^\d+% tests passed, \d+ tests? failed/,
  /^(?:Total Test time \(real\)|The following tests FAILED|Errors while running CTest|No tests were found)/,
  /^(?:Passed|Failed)! +- +Failed: +\d/,
  /^Tests: \d+, Assertions: \d/,
  /^Test Suite '(?:All|Selected) tests' /,
  /^\S{1,80} +: ok=\d+ +changed=\d/,
  /^(?:Found|FOUND|found|Reported|Detected) \d+ (?:\w+ ){0,2}(?:errors?|warnings?|problems?|issues?|diagnostics?|violations?|vulnerabilit\w+|ERRORS?|WARNINGS?)/,
  /^\S{0,3} ?\d+ (?:problems?|errors?|warnings?|issues?|offenses?|violations?)\b.{0,80}$/,
  /^\s{0,4}\d+ errors? .{0,80}\bpotentially fixable|^\[\*\] \d+ fixable/,
  /^A TOTAL OF \d|^PHPCBF CAN FIX \d|^(?:No syntax errors detected in|Errors parsing) \S/,
  /^Success: no issues found|^Your code has been rated|^All checks passed|^would reformat|^\d+ files? (?:would be |left |re|inspected)/,
  /^webpack \S{1,20} compiled\b|^[✓✔] \d+ modules transformed/,
  /^(?:added|removed|changed|updated|audited|up to date)\b.{0,120}\bpackages?\b/,
  /^(?:\s{0,8}[✓✔⚡] {1,3}(?:Done|Finished|Completed|Built|built|Compiled|Created)\b.{0,80}|(?:Built|Compiled|created) .{1,120}) in \d[\d.]{0,8} ?(?:ms|s|sec|seconds?|m|min)\b/,
  /^Ran \d+ tests? in \d|^(?:Apply|Destroy) complete! Resources: \d|^Terraform has been successfully initialized|^Scanned \d+ .{0,60}\bfound \d|^The Meson build system$/,
  /^Package operations: \d|^\d+ actionable tasks?: /,
  /^\d+ (?:upgraded|newly installed|to upgrade)\b/,
  /^(?:error|warning): .{0,160}(?:could not compile|generated \d+ warnings?|aborting due to|\d{1,9} (?:previous )?errors?|test failed)/,
  /^g?make(?:\[\d+\])?: \*\*\*|^ninja: (?:build stopped|no work|error|fatal)/,
  /^\*\* [A-Z]{2,10} (?:SUCCEEDED|FAILED) \*\*/,
  /^\s{0,8}(?:Test Suites|Test Files|Tests|Snapshots):? +\d+ (?:passed|failed|skipped|todo|total)/,
];

/** Similar lines: a label and a number, a count of things done, how something ended. */
const OTHERS: readonly RegExp[] = [
  /^\s{0,8}(?:Tests?|Test Suites|Test Files|Test cases|Snapshots|Suites|Specs|Scenarios|Steps|Tasks|Packages|Total|TOTAL|Pass(?:ed)?|Ok|Fail(?:ed|ures?)?|Expected Fail|Unexpected Pass|Skipped|Ignored|Pending|Timeouts?|Cached|Errors?|Warnings?|Assertions|Duration|Time|Real|User|Sys|test cases|assertions)(?: +|: *)[-+]?\d/,
  /^(?:real|user|sys)\t\d/,
  /^1\.\.\d+$/,
  new RegExp(
    `^\\s{0,8}(?:[✔✓✖✗✘*-] {1,4})?\\d+(?:/\\d+)? (?:(?:${COUNTED_THINGS}) )?(?:${RESULTS})(?![\\w-])`,
  ),
  /^(?:OK|FAILED|PASS|FAIL|FAILURES|ERRORS)(?: ?\([^)]{0,120}\))?!?$/,
  /^ ?NX {2,4}\S/,
  /^(?:Ran|Executed|Checked|Scanned|Linted|Inspected|Analy[sz]ed|Resolved|Installed|Prepared|Audited|Uninstalled|Formatted) \d/,
  /^\s{0,8}\d+ (?:Warning|Error)\(s\)$/,
  /^(?:All files +\| +|TOTAL +)\d/,
  /^\s{0,8}(?:[✨✓✔⚡] {1,3})?(?:Finished|finished|Completed|completed|Done|done|Built|built|Compiled|compiled|Created|created)\b.{0,120}\bin \d/,
  /^(?:Took|Time Elapsed) \d/,
  /^\d+ (?:\w+ )?(?:vulnerabilities|vulnerability)\b/,
  /^(?:Successfully|Failed) (?:installed|built|uninstalled|tagged|to build)\b/,
  /^\[100%\] /,
  /^(?:-- )?(?:Configuring (?:done|incomplete)|Build files have been written)/,
  /^Exited with |^(?:INFO: )?(?:[Bb]uild|BUILD|[Cc]ompilation|[Ii]nstallation|Apply|Destroy|Bundle) (?:succeeded|failed|completed?|SUCCEEDED|FAILED|COMPLETE)/,
  /^Plan: \d/,
  /^sent [\d,.KMG]+ bytes |^total size is /,
  /^ ?\d+ files? changed\b/,
  /^Already up to date|^Everything up-to-date|^HEAD is now at /,
];

// All in one: since each is anchored at the start of a line, one pattern is much faster than fifty.
const RUNNERS = anyOf(OF_RUNNERS);
const ALL = anyOf([...OF_RUNNERS, ...OTHERS]);

/** Returns true for a line of totals, given without colours and timestamp. */
export const isTotals = (line: string): boolean => ALL.test(line);

/** `runner`: totals that only a test runner, a linter or a build prints. */
export type Totals = 'runner' | 'other';

/** How many of the last lines are searched for totals, and how many of the first. */
const LAST_LINES = 40;
const FIRST_LINES = 6;
/** What CI and loggers put before a line of totals. */
const STAMP = /^\[?\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}Z?[\]:]? /;

/** Returns the totals among the first lines and the last; a runner's, if there are any. */
export function totalsAtEnds(lines: readonly string[]): Totals | undefined {
  const totals = [
    ...lines.slice(0, FIRST_LINES),
    ...lines.slice(Math.max(FIRST_LINES, lines.length - LAST_LINES)),
  ]
    .map((line) => line.slice(0, LINE_CAP).replace(STAMP, '').trimEnd())
    .filter(isTotals);
  if (totals.length === 0) return undefined;
  return totals.some((line) => RUNNERS.test(line)) ? 'runner' : 'other';
}
