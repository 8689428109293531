/**
 * What an agent harness wraps around a command's output: a header of its own that differs on every
 * call (a chunk id, the wall time, the exit code) and sometimes closing tags. Classes and repeats
 * are recognised on the content inside.
 */

/** A text split into `prefix + body + suffix`; joined, the three are the text. */
export interface Envelope {
  readonly prefix: string;
  readonly body: string;
  readonly suffix: string;
}

const HEADER_LINES = 14;
const OPENING =
  /(?:^|>)(?:Output:|<(?:output|output_head|stdout|result|results|content|file)>)\s*$/;
const HEADER_LINE =
  /^(?:<[\w/-]+>[^<]{0,200}(?:<\/[\w-]+>)?|<\/[\w-]+>.{0,40}|[A-Z][\w ]{1,30}: .{0,120}|Process exited with .{0,60}|The output of .{0,200}|Please .{0,200}|If you.{0,200}|)$/;
/** A heading on its own above an output; at most one below another. */
const HEADING =
  /(?:OBSERVATION:|(?:Error: )?Exit code -?\d{1,5}|Here's the result of running `cat -n` on .{1,300}:|\[File: .{1,300} \(\d{1,9} lines total\)\](?:\n\(\d{1,9} more lines above\))?)[ \t]*\n/y;
const MAX_HEADINGS = 3;
/** A command, its directory and its output, each after a label: Gemini CLI and its relatives. */
const NAMED_PARTS = /^Command: [^]{1,2000}?\nDirectory: .{0,300}\n(?:Output|Stdout): /;
/** How a command ended and the shell's directory, one line each below an output. */
const ENDING =
  /^(?:\[(?:The command completed with exit code -?\d{1,5}\.?|Command finished with exit code -?\d{1,5}|Current working directory: .{0,300}|Python [Ii]nterpreter: .{0,300})\]|\((?:Open file|Current directory): .{0,300}\)|\(\d{1,9} more lines below\)|bash-\$|Command exited with code -?\d{1,5}|(?:Error|Signal|Background PIDs): \(none\)|Exit Code: (?:-?\d{1,5}|\(none\))|Process Group PGID: \d{1,9}|[\w.-]{1,40}@[\w.-]{1,60}:.{0,200}[#$])[ \t]*$/;
const MAX_ENDINGS = 8;
/** Tags that close what a header opened. */
const CLOSING_TAGS = [
  'output',
  'output_tail',
  'stdout',
  'result',
  'results',
  'content',
  'file',
].map((name) => `</${name}>`);
/** Closing tags are searched in this many characters at the end. */
const CLOSING_CHARS = 200;
const ENDING_CHARS = 600;
const REMINDER_OPEN = '<system-reminder>';
const REMINDER_CLOSE = '</system-reminder>';
/** A client appends one to a result for each notice it has. */
const MAX_REMINDERS = 16;

/** Splits a tool result into its harness's header, the tool's output, and closing tags. */
export function openEnvelope(text: string): Envelope {
  const start = headerEnd(text);
  const end = Math.max(start, tailStart(text));
  return { prefix: text.slice(0, start), body: text.slice(start, end), suffix: text.slice(end) };
}

function headerEnd(text: string): number {
  const named = text.startsWith('Command: ') ? NAMED_PARTS.exec(text) : null;
  if (named !== null) return named[0].length;
  let offset = 0;
  for (let count = 0; count < MAX_HEADINGS; count++) {
    HEADING.lastIndex = offset;
    if (!HEADING.test(text)) break;
    offset = HEADING.lastIndex;
  }
  return fieldsEnd(text, offset);
}

/** Returns where the fields above an output end; `from` if there are none. */
function fieldsEnd(text: string, from: number): number {
  let offset = from;
  for (let count = 0; count < HEADER_LINES; count++) {
    const next = text.indexOf('\n', offset);
    if (next < 0 || next - offset > 300) return from;
    const line = text.slice(offset, next);
    if (OPENING.test(line)) return next + 1;
    if (!HEADER_LINE.test(line)) return from;
    offset = next + 1;
  }
  return from;
}

function tailStart(text: string): number {
  let end = text.length;
  for (let count = 0; count < MAX_REMINDERS; count++) {
    const kept = text.slice(0, end).trimEnd();
    const open = kept.endsWith(REMINDER_CLOSE) ? kept.lastIndexOf(REMINDER_OPEN) : -1;
    if (open < 0) break;
    end = text.slice(0, open).trimEnd().length;
  }
  return closingStart(text, endingStart(text, end));
}

/**
 * Returns where the lines begin that report how the command ended, with the line feeds before them.
 */
function endingStart(text: string, end: number): number {
  let start = end;
  for (let count = 0; count < MAX_ENDINGS; count++) {
    const kept = text.slice(Math.max(0, start - ENDING_CHARS), start).trimEnd();
    const line = kept.slice(kept.lastIndexOf('\n') + 1);
    if (line === '' || !ENDING.test(line)) break;
    start = Math.max(0, start - ENDING_CHARS) + kept.length - line.length;
  }
  if (start === end) return end;
  // Only line feeds: a carriage return is part of the previous line's ending.
  while (start > 0 && text[start - 1] === '\n') start--;
  return start;
}

/**
 * Returns where the closing tags before `end` begin, including the whitespace before them; `end` if
 * there are none.
 */
function closingStart(text: string, end: number): number {
  const suffix = text.slice(Math.max(0, end - CLOSING_CHARS), end);
  let kept = suffix.length;
  for (;;) {
    const before = suffix.slice(0, kept).trimEnd();
    const tag = CLOSING_TAGS.find((each) => before.endsWith(each));
    if (tag === undefined) break;
    kept = before.length - tag.length;
  }
  if (kept === suffix.length) return end;
  return end - suffix.length + suffix.slice(0, kept).trimEnd().length;
}

/**
 * `     |` of six columns is Crush's, directly followed by the line; others put a space after the
 * bar.
 */
const NUMBERED = /^ *L?(\d+)(?:\t|→|: | \| |(?<=^ [ \d]{5})\||\| ?)/;
const COLON_NUMBERED = /^(\d{1,7}):/;
const MIN_COLON_NUMBERED = 3;
/**
 * A number and a tab, with no space before it, also begin a row of a table whose first column
 * counts up.
 */
const BARE_NUMBER = /^\d+\t/;

/**
 * Returns true if lines that each begin with a bare number and a tab are a numbered view of a file
 * rather than a table with ids: a file has blank or indented lines, a table has a header above or
 * the same number of tabs in every row.
 */
export function isView(lines: readonly string[], above: string | undefined): boolean {
  if (lines.length === 0 || !BARE_NUMBER.test(lines[0]!)) return true;
  if (above !== undefined && above.includes('\t')) return false;
  const tabs = lines[0]!.split('\t').length;
  if (tabs > 2 && lines.every((line) => line.split('\t').length === tabs)) return false;
  return lines.some((line) => /^\d+\t(?:\s|$)/.test(line));
}

/**
 * Returns the length of each line's number prefix if the text is a numbered view of a file (at
 * least nine lines in ten, counting up by one), else undefined.
 */
export function lineNumbering(lines: readonly string[]): readonly number[] | undefined {
  let numbered = 0;
  let filled = 0;
  let last = Number.NaN;
  let first: number | undefined;
  const widths = lines.map(() => 0);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line === '') continue;
    // Most texts are not numbered, which is clear long before their end.
    if (filled - numbered > lines.length * 0.1) return undefined;
    filled++;
    const match = NUMBERED.exec(line.length > 40 ? line.slice(0, 40) : line);
    if (match === null) continue;
    const value = Number(match[1]);
    if (Number.isNaN(last) || value === last + 1) numbered++;
    last = value;
    first ??= at;
    widths[at] = match[0].length;
  }
  if (filled < 2 || numbered < filled * 0.9 || first === undefined) return undefined;
  return isView(lines.slice(first), lines[first - 1]) ? widths : undefined;
}

/**
 * Like `lineNumbering`, for views with a colon and nothing after it, as SWE-agent shows files. An
 * agent that edits by such numbers needs all of them, and consecutive hits look the same: use this
 * to classify a text, not to change it.
 */
export function colonNumbering(lines: readonly string[]): readonly number[] | undefined {
  let last = Number.NaN;
  let filled = 0;
  let isFile = false;
  const widths = lines.map(() => 0);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line === '') continue;
    const match = COLON_NUMBERED.exec(line.length > 40 ? line.slice(0, 40) : line);
    if (match === null || (filled > 0 && Number(match[1]) !== last + 1)) return undefined;
    last = Number(match[1]);
    widths[at] = match[0].length;
    filled++;
    // Other text that counts up, such as process ids before messages, has no blank or indented
    // lines.
    isFile ||= last === 1 || /^\s|^$/.test(line.slice(widths[at]));
  }
  return isFile && filled >= MIN_COLON_NUMBERED ? widths : undefined;
}
