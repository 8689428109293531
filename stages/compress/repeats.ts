/**
 * Repeats across a conversation: lines that went out before are named by where they
 * stand, not sent again. Works on runs of lines, so that a second look at part of a file,
 * with or without line numbers, and a run of tests with the same output both count. Only
 * text that went out verbatim is ever referred to, and only text that came earlier.
 */
import { lineNumbering } from '../model/classify/envelope.ts';
import { estimateTokens } from '../model/tokens.ts';
import { MARK } from './marker.ts';

const MIN_LINES = 3;
const MIN_TOKENS_SAVED = 5;
/** How many earlier places of the same three lines are tried; more would make repetitive logs slow. */
const CANDIDATES = 6;
const PASS_LINES = 50;

interface Source {
  readonly label: string;
  readonly lines: readonly string[];
}

interface Place {
  readonly source: number;
  readonly line: number;
}

interface Run {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly at: number;
}

/** Lines of the text in hand that went out verbatim so far, findable like those of earlier blocks. */
interface OwnLines {
  readonly lines: readonly string[];
  readonly verbatim: boolean[];
  readonly places: Map<number, number>;
}

/** What `replaceRepeats` made of a text. */
export interface Referred {
  readonly text: string;
  /** Lines of the input that now stand in a reference, as a count. */
  readonly lines: number;
  /** Which earlier texts it names. */
  readonly labels: ReadonlySet<string>;
}

/** All lines that went out so far, findable by content. Grows with the conversation, never shrinks. */
export class SentLines {
  /** Labels that a reference has spelled out; later references use the short form. */
  private readonly introduced = new Set<string>();
  private readonly sources: Source[] = [];
  private readonly places = new Map<number, Place[]>();

  /** Adds what went out for a block. Lines that are markers of ours are no content and are never referred to. */
  add(label: string, text: string): void {
    const lines = contentOf(text.split('\n')).map((line) =>
      line.startsWith(MARK) ? '\u0000' : line,
    );
    const source = this.sources.push({ label: cleanLabel(label), lines }) - 1;
    const hashes = lines.map(hashLine);
    for (let line = 0; line + MIN_LINES <= lines.length; line++) {
      const key = hashRun(hashes, line);
      const known = this.places.get(key);
      if (known === undefined) this.places.set(key, [{ source, line }]);
      else if (known.length < CANDIDATES) known.push({ source, line });
    }
  }

  /** Notes that a text with these references goes out, so that later ones can be shorter. */
  introduce(labels: ReadonlySet<string>): void {
    for (const label of labels) this.introduced.add(label);
  }

  /** Replaces runs of lines that went out before, in an earlier block or above in this one; undefined where that saves nothing. */
  replaceRepeats(text: string): Referred | undefined {
    const raw = text.split('\n');
    const widths = lineNumbering(raw);
    const lines = contentOf(raw);
    const hashes = lines.map(hashLine);
    const own: OwnLines = { lines, verbatim: lines.map(() => false), places: new Map() };
    const out: string[] = [];
    const used = new Set<string>();
    let replaced = 0;
    for (let at = 0; at < lines.length;) {
      const run = this.longestRun(own, hashes, at);
      const label =
        run === undefined || !this.introduced.has(run.label) ? run?.label : shortLabel(run.label);
      const reference = run === undefined ? undefined : refer(run, label ?? run.label, raw, widths);
      if (run === undefined || reference === undefined) {
        // A long run that cannot be referred to is passed whole, or each of its lines would search it anew.
        const end = run !== undefined && run.to - at > PASS_LINES ? run.to : at + 1;
        for (; at < end; at++) {
          out.push(raw[at]!);
          noteOwn(own, raw, hashes, at);
        }
        continue;
      }
      out.push(reference);
      used.add(run.label);
      replaced += run.to - run.from;
      at = run.to;
    }
    return replaced === 0 ? undefined : { text: out.join('\n'), lines: replaced, labels: used };
  }

  private longestRun(own: OwnLines, hashes: readonly number[], at: number): Run | undefined {
    if (at + MIN_LINES > own.lines.length) return undefined;
    const key = hashRun(hashes, at);
    const before = own.places.get(key);
    const length = before === undefined ? 0 : ownRun(own, before, at);
    let best: Run | undefined;
    if (before !== undefined && length >= MIN_LINES)
      best = { from: at, to: at + length, label: OWN, at: before };
    for (const place of this.places.get(key) ?? []) {
      const source = this.sources[place.source]!;
      const same = sameLines(source.lines, place.line, own.lines, at);
      if (same >= MIN_LINES && same > (best === undefined ? 0 : best.to - best.from)) {
        best = { from: at, to: at + same, label: source.label, at: place.line };
      }
    }
    return best;
  }

  /** The lines that a text with references stands for. */
  restore(text: string): string {
    const out: string[] = [];
    for (const line of text.split('\n')) out.push(...(this.restoreLine(line, out) ?? [line]));
    return out.join('\n');
  }

  private restoreLine(line: string, above: readonly string[]): readonly string[] | undefined {
    const match = REFERENCE.exec(line);
    if (match === null) return undefined;
    const source =
      match[3] === OWN
        ? contentOf(above)
        : this.sources.findLast(
            (known) => known.label === match[3] || shortLabel(known.label) === match[3],
          )?.lines;
    const lines = source?.slice(Number(match[1]) - 1, Number(match[2]));
    if (match[4] === undefined || lines === undefined) return lines;
    const first = Number(match[4]);
    return lines.map(
      (content, at) => numberLine(first + at, match[5] === undefined ? '\t' : '→') + content,
    );
  }
}

function noteOwn(
  own: OwnLines,
  raw: readonly string[],
  hashes: readonly number[],
  at: number,
): void {
  own.verbatim[at] = !raw[at]!.startsWith(MARK);
  const start = at + 1 - MIN_LINES;
  if (start >= 0 && own.verbatim[start] === true) own.places.set(hashRun(hashes, start), start);
}

/** How a text names its own lines. */
const OWN = 'this text';

/** The reference for a run, or undefined where it would hardly be shorter than the lines, or lose their numbers. */
function refer(
  run: Run,
  label: string,
  raw: readonly string[],
  widths: readonly number[] | undefined,
): string | undefined {
  const lines = raw.slice(run.from, run.to);
  const numbers = numbersOf(lines, widths?.slice(run.from, run.to));
  if (numbers === undefined) return undefined;
  const count = run.to - run.from;
  const text = `${MARK}lines ${run.at + 1}–${run.at + count} of ${label} again${numbers}]`;
  return estimateTokens(lines.join('\n')) - estimateTokens(text) >= MIN_TOKENS_SAVED
    ? text
    : undefined;
}

/** `result 7 (ls -la)` → `result 7`. */
function shortLabel(label: string): string {
  const open = label.indexOf(' (');
  return open < 0 ? label : label.slice(0, open);
}

function ownRun(own: OwnLines, before: number, at: number): number {
  let length = 0;
  while (
    at + length < own.lines.length &&
    before + length < at &&
    own.verbatim[before + length] === true &&
    own.lines[before + length] === own.lines[at + length]
  ) {
    length++;
  }
  return length;
}

function sameLines(a: readonly string[], atA: number, b: readonly string[], atB: number): number {
  let length = 0;
  while (atB + length < b.length && a[atA + length] === b[atB + length]) length++;
  return length;
}

const REFERENCE = /^\[svc lines (\d+)–(\d+) of (.+) again(?:, numbered from (\d+)( →)?)?\]$/s;

/** Lines without the line-number column of a numbered view. */
function contentOf(lines: readonly string[]): readonly string[] {
  const widths = lineNumbering(lines);
  return widths === undefined ? lines : lines.map((line, at) => line.slice(widths[at]));
}

/** How the lines are numbered, in words; '' where they are not; undefined where that cannot be said in words. */
function numbersOf(
  lines: readonly string[],
  widths: readonly number[] | undefined,
): string | undefined {
  if (widths === undefined || widths.every((width) => width === 0)) return '';
  const first = Number.parseInt(lines[0]!.slice(0, widths[0]), 10);
  const arrow = lines[0]!.slice(0, widths[0]).endsWith('→');
  const steady = lines.every(
    (line, at) => line.slice(0, widths[at]) === numberLine(first + at, arrow ? '→' : '\t'),
  );
  return steady ? `, numbered from ${first}${arrow ? ' →' : ''}` : undefined;
}

/** A line number as `cat -n` and the file viewers of agents print it. */
function numberLine(number: number, separator: string): string {
  return `${String(number).padStart(6)}${separator}`;
}

function cleanLabel(label: string): string {
  // oxlint-disable-next-line no-control-regex -- a label is one line of plain text
  return label.replace(/[\u0000-\u001f\]]+/g, ' ').trim();
}

function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function hashRun(hashes: readonly number[], at: number): number {
  // Three 32-bit hashes mixed into a number below 2^53; equal keys are compared line by line.
  return (
    (Math.imul(hashes[at]!, 31) ^ hashes[at + 1]!) * 2097151 +
    ((hashes[at + 2]! ^ (hashes[at]! >>> 7)) & 0x1fffff)
  );
}
