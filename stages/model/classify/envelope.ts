/**
 * What a harness wraps around a command's output: a header of its own that differs on
 * every call (a chunk id, the wall time, the exit code) and sometimes closing tags.
 * Classes and repeats are recognised on what is inside.
 */

/** A text cut into `prefix + body + suffix`; joined, the three are the text. */
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
/** Closing tags are looked for in so many characters at the end. */
const CLOSING_CHARS = 200;
const REMINDER_OPEN = '<system-reminder>';
const REMINDER_CLOSE = '</system-reminder>';
/** A client puts one behind a result for each thing that it has to say. */
const MAX_REMINDERS = 16;

/** Cuts a tool result into its harness's header, the tool's output, and closing tags. */
export function openEnvelope(text: string): Envelope {
  const start = headerEnd(text);
  const end = Math.max(start, tailStart(text));
  return { prefix: text.slice(0, start), body: text.slice(start, end), suffix: text.slice(end) };
}

function headerEnd(text: string): number {
  let offset = 0;
  for (let count = 0; count < HEADER_LINES; count++) {
    const next = text.indexOf('\n', offset);
    if (next < 0 || next - offset > 300) return 0;
    const line = text.slice(offset, next);
    if (OPENING.test(line)) return next + 1;
    if (!HEADER_LINE.test(line)) return 0;
    offset = next + 1;
  }
  return 0;
}

function tailStart(text: string): number {
  let end = text.length;
  for (let count = 0; count < MAX_REMINDERS; count++) {
    const kept = text.slice(0, end).trimEnd();
    const open = kept.endsWith(REMINDER_CLOSE) ? kept.lastIndexOf(REMINDER_OPEN) : -1;
    if (open < 0) break;
    end = text.slice(0, open).trimEnd().length;
  }
  return closingStart(text, end);
}

/** Where the closing tags begin that end at `end`, with the blanks before them; `end` where there are none. */
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

/** `     |` of six columns is Crush's, and what follows is the line; others put a blank behind the bar. */
const NUMBERED = /^ *L?(\d+)(?:\t|→|: | \| |(?<=^ [ \d]{5})\||\| ?)/;
/** A number and a tab, with no blank before it, also begin a row of a table whose first column counts up. */
const BARE_NUMBER = /^\d+\t/;

/**
 * True if lines that each begin with a bare number and a tab are a numbered view of a file
 * rather than a table with ids: a file has blank or indented lines, a table has a header
 * above or the same number of tabs in every row.
 */
export function isView(lines: readonly string[], above: string | undefined): boolean {
  if (lines.length === 0 || !BARE_NUMBER.test(lines[0]!)) return true;
  if (above !== undefined && above.includes('\t')) return false;
  const tabs = lines[0]!.split('\t').length;
  if (tabs > 2 && lines.every((line) => line.split('\t').length === tabs)) return false;
  return lines.some((line) => /^\d+\t(?:\s|$)/.test(line));
}

/**
 * Length of the line-number prefix of each line where the text is a numbered view of a
 * file (at least nine lines in ten, counting up by one), else undefined.
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
    // Most texts are not numbered, which shows long before their end.
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
