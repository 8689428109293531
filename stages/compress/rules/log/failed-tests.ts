/**
 * The lines in which runners name failed tests, which are needed to rerun or open them. A runner
 * may name a test where it ran and again in a list at the end.
 */
import { anyOf } from '../../../model/classify/any-of.ts';
import { estimateTokens } from '../../../model/tokens.ts';

/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;

/** Mocha names a test below its suite, with a final colon; Busted names it below its position. */
const NUMBERED_NAME = /^\s{0,8}\d{1,4}\) \S/;
const POSITION_BEFORE_NAME = /^(?:Failure|Error) (?:->|→) \S/;

/** Beginnings of lines that name a failed test. */
const NAME_BEGINNINGS: readonly RegExp[] = [
  // pytest; unittest, automake, lit; Go; Rust
  /^(?:FAILED|ERROR) \S{1,200}::/,
  /^(?:FAIL|ERROR|TIMEOUT|XPASS): \S/,
  /^\s{0,12}--- FAIL: |^FAIL\t\S/,
  /^ {2,12}(?:FAIL|SIGABRT|SIGSEGV|TIMEOUT) \[ *[\d.]+s\]/,
  // TAP, and the signs of JavaScript's runners, bats and Swift
  /^\s{0,12}not ok \d/,
  /^\s{0,8}[✖✗✘×] \S/,
  /^ ?FAIL {1,2}[^\s:]|^ {2,4}FAIL {1,2}"|^\s{0,4}● \S/,
  /^ {2,6}\[[\w -]{1,40}\] › \S/,
  // RSpec, Minitest, PHPUnit, Mocha, Jasmine, ExUnit, Playwright
  NUMBERED_NAME,
  /^[\w:]{1,120}#test_\w|^(?:rspec|cucumber) \S{1,200}:\d/,
  // GoogleTest, CTest, Meson, Busted, Behave, Test::More and its harness
  /^\[ {2}FAILED {2}\] \S/,
  /^\s{0,8}\d+\/\d+ Test +#\d+: .{1,200}\*{3}|^\t +\d+ - .{1,200} \(\w+\)/,
  /^ *\d+\/\d+ .{1,200} (?:FAIL|TIMEOUT|ERROR)\b/,
  POSITION_BEFORE_NAME,
  /^ {2}\S{1,200}\.feature:\d/,
  /^# {1,3}Failed test |^\S{1,200} +\(Wstat: |^\S{1,200} \.{2,} ?(?:Failed|Dubious)\b|^ {2}Failed tests?: /,
  // Surefire, .NET, XCTest, PHP's own check
  /^\[ERROR\] {1,4}[\w$.]{1,200}(?:[.:#]\w|\[)/,
  /^ {2,4}(?:Failed|X) \S.{0,200} \[[^\]]{1,20}\]$/,
  /^Test Case '.{1,200}' failed/,
  /^Errors parsing \S/,
];
const beginsName = anyOf(NAME_BEGINNINGS);
/**
 * The verdict after a name: unittest, Rust, Gradle, Karma, pytest -v; RSpec; Robot Framework;
 * Surefire.
 */
const VERDICT =
  /\S (?:FAILED|FAIL|ERROR)(?: *\[ *\d+%\])?$|\(FAILED - \d+\)$|\| FAIL \|$|<<< (?:FAILURE|ERROR)!$/;
/** Last characters of a verdict, and its greatest length: a cheap check that most lines fail. */
const VERDICT_ENDS = new Set(Array.from('DLR])|!', (sign) => sign.charCodeAt(0)));
const MAX_VERDICT_CHARS = 24;

function namesFailedTest(line: string): boolean {
  if (beginsName.test(line)) return true;
  if (!VERDICT_ENDS.has(line.charCodeAt(line.length - 1))) return false;
  return VERDICT.test(line.length > MAX_VERDICT_CHARS ? line.slice(-MAX_VERDICT_CHARS) : line);
}

const LAST_OF_NAME = /^ {4,40}\S.{0,200}:$/;
const MAX_NAME_LINES = 6;

/**
 * Returns the indexes of lines that name failed tests, at most `maxTokens` of them; beyond that,
 * the last ones, as runners list all failures at the end.
 */
export function failedTests(
  lines: readonly string[],
  maxTokens: number,
  costOf: (at: number, kept: ReadonlySet<number>) => number = (at) => estimateTokens(lines[at]!),
): ReadonlySet<number> {
  const kept = new Set<number>();
  let tokensLeft = maxTokens;
  for (let at = lines.length - 1; at >= 0; at--) {
    const name = nameAt(lines, at);
    for (const line of name) {
      if (kept.has(line)) continue;
      const cost = costOf(line, kept);
      if (cost > tokensLeft) return kept;
      tokensLeft -= cost;
      kept.add(line);
    }
  }
  return kept;
}

/**
 * Returns the lines of the name that begins at `at`, the last one first; empty if there is none.
 */
function nameAt(lines: readonly string[], at: number): readonly number[] {
  const line = cut(lines[at]!);
  if (!namesFailedTest(line)) return [];
  if (POSITION_BEFORE_NAME.test(line) && at + 1 < lines.length) return [at + 1, at];
  if (!NUMBERED_NAME.test(line)) return [at];
  for (let end = at + 1; end < at + MAX_NAME_LINES && end < lines.length; end++) {
    if (lines[end]!.trim() === '') break;
    if (!LAST_OF_NAME.test(cut(lines[end]!))) continue;
    return Array.from({ length: end - at + 1 }, (_, back) => end - back);
  }
  return [at];
}

/**
 * A failure message: the class of an error and its message, or the first line that pytest marks.
 */
const MESSAGE =
  /^\s{0,8}(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Failure|Exit|Interrupt)(?: \[\w{1,60}\])?(?::|$)/;
const PYTEST_ERROR = /^E {1,7}\S/;

/**
 * Returns the indexes of failure messages, at most `maxTokens` of them; beyond that, the last ones.
 * Empty if all messages are equal, as they then distinguish nothing.
 */
export function failureMessages(lines: readonly string[], maxTokens: number): readonly number[] {
  const kept: number[] = [];
  const words = new Set<string>();
  let tokensLeft = maxTokens;
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = cut(lines[at]!);
    const isMarked = PYTEST_ERROR.test(line) && !PYTEST_ERROR.test(lines[at - 1] ?? '');
    if (!isMarked && !MESSAGE.test(line)) continue;
    tokensLeft -= estimateTokens(lines[at]!);
    if (tokensLeft < 0) break;
    kept.push(at);
    words.add(line);
  }
  return words.size > 1 ? kept : [];
}

function cut(line: string): string {
  return line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line;
}
