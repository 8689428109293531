/**
 * Finds the lines of a tool result that report a failure, by patterns of its own: compression must
 * not be judged with the patterns that it uses to choose lines.
 */

/** Why a line must be kept. */
export type FailureKind = 'test' | 'error' | 'exit' | 'last';

export interface FailureLine {
  readonly kind: FailureKind;
  readonly line: string;
}

/** How test runners name a failed test. */
const TEST: readonly RegExp[] = [
  /^(?:FAILED|ERROR) \S+::\S/,
  /^\s*--- FAIL: \S/,
  /^\s*not ok \d+\b/,
  /^ ?FAIL {1,2}\S/,
  /^\s{0,8}[✖✗✘✕] \S/,
  /^test \S+ \.\.\. FAILED$/,
  /^\[ {2}FAILED {2}\] \S/,
];
const ERROR: readonly RegExp[] = [
  /^\s*(?:error|fatal)(?:\[\w+\])?: \S/i,
  /^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): \S/,
  /^E {3,}\S/,
  /^npm (?:ERR!|error) \S/,
  /: (?:fatal )?error(?: [A-Z]+\d+)?: \S/,
  /panicked at \S/,
  /^Traceback \(most recent call last\)/,
];
const EXIT =
  /^(?:.{0,60}\b)?(?:exit(?:ed)?(?: with)? (?:code|status)|returncode)\W{0,3}[1-9]\d*\b/i;
// oxlint-disable-next-line no-control-regex -- colours begin with an escape
const COLOURS = /\u001b\[[\d;]*m/g;
/** A longer line is a document that mentions an error. */
const MAX_CHARS = 1000;

function kindOf(line: string): Exclude<FailureKind, 'last'> | undefined {
  if (line.length > MAX_CHARS) return undefined;
  if (TEST.some((pattern) => pattern.test(line))) return 'test';
  if (ERROR.some((pattern) => pattern.test(line))) return 'error';
  return EXIT.test(line) ? 'exit' : undefined;
}

/** Returns the line without colours, trimmed. */
export function withoutColours(line: string): string {
  return line.replace(COLOURS, '').trim();
}

/**
 * Returns the failure lines of a result: names of tests, errors, exit statuses, and the last line.
 */
export function failureLines(text: string): readonly FailureLine[] {
  const lines = text.split('\n').map((line) => line.replace(COLOURS, '').trimEnd());
  const found = lines.flatMap((line): FailureLine[] => {
    const kind = kindOf(line);
    return kind === undefined ? [] : [{ kind, line: line.trim() }];
  });
  const last = lines.findLast((line) => line.trim() !== '');
  if (found.length === 0 || last === undefined) return [];
  return last.length > MAX_CHARS ? found : [...found, { kind: 'last', line: last.trim() }];
}

/** Errors that differ only in numbers count as the same. */
export function formOf({ kind, line }: FailureLine): string {
  return kind === 'error' ? line.replaceAll(/\d+/g, '0') : line;
}
