/**
 * Repeats across a conversation: lines that went out before are named by where they
 * stand, not sent again. Works on runs of lines, so that a second look at part of a file,
 * with or without line numbers, and a run of tests with the same output both count. Only
 * text that went out verbatim is ever referred to, and only text that came earlier.
 */
import { createHash } from 'node:crypto';
import { estimateTokens } from '../../model/tokens.ts';
import { splitNumbers, type SplitLines } from './gutter.ts';
import { printedNumbers } from './printed-numbers.ts';
import { MARK } from '../text/marker.ts';
import { readRepeated } from '../text/repeats.ts';
import { numbersOfLines, writeReference, type Words } from './reference.ts';
import type { SentForm } from './same-text.ts';
import {
  clipRun,
  hiddenAround,
  hashLine,
  hashRun,
  lastOf,
  numbersOf,
  ownRun,
  sameLines,
  type OwnText,
  shownRun,
  type Run,
} from './runs.ts';

const MIN_LINES = 3;
const MIN_TOKENS_SAVED = 5;
/** Runs below `MIN_LINES` begin with a line of at least this many characters, and must save more. */
const LONG_LINE = 40;
const MIN_TOKENS_SAVED_SHORT = 8;
/** Rules and frames say nothing that a name would be shorter for a reader. */
const WORD = /[\p{L}\p{N}]/u;
/** How many earlier places of the same three lines are tried; more would make repetitive logs slow. */
const CANDIDATES = 6;
const PASS_LINES = 50;
/** A line that is counted more often is known once. */
const MAX_COPIES = 100;
/** Stands where lines of a text are missing, or were written in another way: equals no line of any other. */
export const GAP = '\u0000\n';

interface EarlierBlock {
  readonly label: string;
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly prefixes: SplitLines['prefixes'];
  readonly printed: readonly number[] | undefined;
  /** Lines that were left out where it stood, comments of code: known, but not to be seen there. */
  readonly hidden?: readonly boolean[];
}

interface Occurrence {
  readonly block: number;
  readonly line: number;
}

/** Lines of the text in hand that went out verbatim so far, findable like those of earlier blocks. */
interface OwnLines extends OwnText {
  readonly prefixes: SplitLines['prefixes'];
  readonly printed: readonly number[] | undefined;
  /** Lines whose number is that of the block as it came. */
  readonly named: boolean[];
  readonly verbatim: boolean[];
  readonly lineOf: Map<number, number>;
  /** Long lines by their own hash. */
  readonly long: Map<number, number>;
  readonly options: RepeatOptions;
}

const NO_LINES: ReadonlySet<number> = new Set();
const ALONE = { before: 0, behind: 0 };

/** What may be named of a text, and how. */
export interface RepeatOptions {
  /** Lines of the block that stand before the text. */
  readonly before?: number;
  /** Which line of the block as it came each line was, as `originsOf` returns it; absent for a text as it came. */
  readonly origins?: readonly number[];
  /** Estimated tokens that each reference must save. */
  readonly least?: number;
  /** Lines that go out to the letter, by index. */
  readonly literal?: ReadonlySet<number>;
  /** Lines that no other line of the text stands for, by index. */
  readonly distinct?: ReadonlySet<number>;
  /** False where the text's own lines must not be named; they may be if absent. */
  readonly own?: boolean;
  /** Whether a reference stands for lines that were left out where it points: only around its own, nowhere, or (absent) among them too. */
  readonly overHidden?: 'around' | 'none';
  /** False where nothing earlier may be named; it may be if absent. */
  readonly earlier?: boolean;
}

/** What `replaceRepeats` made of a text. */
export interface Referred {
  readonly text: string;
  /** Lines of the input that now stand in a reference, as a count. */
  readonly lines: number;
  /** Which earlier texts it names. */
  readonly labels: ReadonlySet<string>;
  /** How many lines of the input each line of `text` stands for. */
  readonly covers: readonly number[];
}

/** Lines that were left out of a text that is known as it came. */
export interface Hidden {
  /** By index. */
  readonly lines: ReadonlySet<number>;
  /** The number of every other line as its reader counts what was sent; where absent, that of the text. */
  readonly numbers?: readonly number[];
}

/** All lines that went out so far, findable by content. Grows with the conversation, never shrinks. */
export class SentLines {
  /** Labels that a reference has spelled out; the first one is a sentence. */
  private readonly introduced = new Set<string>();
  readonly blocks: EarlierBlock[] = [];
  /** What went out in another form, by a hash of the text as it came: that may be long. */
  private readonly forms = new Map<string, SentForm>();
  private readonly occurrences = new Map<number, Occurrence[]>();
  /** Where a long line went out first, by its own hash. */
  private readonly long = new Map<number, Occurrence>();

  /**
   * Adds what went out for a block. Lines that are markers of ours are no content and are
   * never referred to, nor is what is no line of the block as it came (`origins`). Of a text
   * as it came, `hidden` ones were left out; a reference may pass over few of them.
   */
  add(label: string, text: string, origins?: readonly number[], hidden?: Hidden): void {
    const raw = text.split('\n');
    const counted = origins ?? hidden?.numbers ?? numbersOfLines(raw);
    const isHidden: boolean[] = [];
    const lines: string[] = [];
    const numbers: number[] = [];
    const { contents, prefixes: printed } = splitNumbers(raw);
    const prefixes: string[] = [];
    let last: number | undefined;
    contents.forEach((content, at) => {
      const times = readRepeated(raw[at]!) ?? 0;
      // A count stands for lines that its reader has seen: the one above it, so many times.
      if (times > 0 && times <= MAX_COPIES && isPlain(lines, isHidden, prefixes)) {
        const line = lines.at(-1)!;
        for (let copy = 0; copy < times; copy++) {
          lines.push(line);
          numbers.push(numbers.at(-1)! + 1);
          isHidden.push(false);
          if (printed !== undefined) prefixes.push('');
        }
        last = numbers.at(-1);
        return;
      }
      const number = raw[at]!.startsWith(MARK) ? Number.NaN : counted[at]!;
      const isLeftOut = hidden?.lines.has(at) === true;
      const isContent = isLeftOut || !Number.isNaN(number);
      const follows = isLeftOut || last === undefined || number === last + 1;
      if (lines.length > 0 && (!isContent || !follows)) {
        lines.push(GAP);
        numbers.push(Number.NaN);
        isHidden.push(false);
        if (printed !== undefined) prefixes.push('');
      }
      if (isContent) {
        lines.push(content);
        numbers.push(number);
        isHidden.push(isLeftOut);
        if (printed !== undefined) prefixes.push(printed[at]!);
      }
      if (!isLeftOut || !Number.isNaN(number)) last = number;
    });
    const shownPrefixes = printed === undefined ? undefined : prefixes;
    const block =
      this.blocks.push({
        label: cleanLabel(label),
        lines,
        numbers,
        prefixes: shownPrefixes,
        printed: printedNumbers({ contents: lines, prefixes: shownPrefixes }),
        ...(hidden === undefined ? {} : { hidden: isHidden }),
      }) - 1;
    const hashes = lines.map(hashLine);
    lines.forEach((content, line) => {
      const key = hashes[line]!;
      if (isHidden[line] === true) return;
      if (content.length >= LONG_LINE && !this.long.has(key)) this.long.set(key, { block, line });
    });
    for (let line = 0; line + MIN_LINES <= lines.length; line++) {
      const key = hashRun(hashes, line);
      const known = this.occurrences.get(key);
      if (known === undefined) this.occurrences.set(key, [{ block, line }]);
      else if (known.length < CANDIDATES) known.push({ block, line });
    }
  }

  /** Notes that `original` went out as `text`, which holds no reference. The first one stays. */
  addForm(label: string, original: string, text: string): void {
    const key = hashText(original);
    if (!this.forms.has(key)) this.forms.set(key, { label: cleanLabel(label), text });
  }

  /** In which other form `original` went out, if it did. */
  formOf(original: string): SentForm | undefined {
    return this.forms.size === 0 ? undefined : this.forms.get(hashText(original));
  }

  /** The form that has this label. */
  formNamed(label: string): SentForm | undefined {
    return [...this.forms.values()].find((form) => form.label === label);
  }

  /** How much the next reference says. */
  get words(): Words {
    return this.introduced.size > 0 ? 'named' : 'full';
  }

  /** Notes that a text with these references goes out, so that later ones can be shorter. */
  introduce(labels: ReadonlySet<string>): void {
    for (const label of labels) this.introduced.add(label);
  }

  /**
   * Replaces runs of lines that went out before, in an earlier block or above in this one;
   * undefined where that saves nothing.
   */
  replaceRepeats(text: string, options: RepeatOptions = {}): Referred | undefined {
    const { before = 0, origins, least = 0, literal = NO_LINES, distinct = NO_LINES } = options;
    const raw = text.split('\n');
    const { contents: lines, prefixes } = splitNumbers(raw);
    const hashes = lines.map(hashLine);
    const numbers = numbersOfLines(raw, before);
    const own: OwnLines = {
      lines,
      numbers,
      prefixes,
      printed: printedNumbers({ contents: lines, prefixes }),
      // A reader counts by the markers: what they do not count right cannot be named.
      named: lines.map((_, at) => origins === undefined || origins[at] === numbers[at]),
      verbatim: lines.map(() => false),
      distinct,
      lineOf: new Map(),
      long: new Map(),
      options,
    };
    const out: string[] = [];
    const covers: number[] = [];
    let lastReference = -1;
    const used = new Set<string>();
    let replaced = 0;
    for (let at = 0; at < lines.length;) {
      const found = literal.has(at) ? undefined : this.runAt(own, hashes, at);
      const run = clipRun(found, prefixes, literal);
      const words = used.size > 0 ? 'named' : this.words;
      const reference = run === undefined ? undefined : refer(run, words, raw, prefixes, least);
      if (run === undefined || reference === undefined) {
        // A long run that cannot be referred to is passed whole, or each of its lines would search it anew.
        const end = run !== undefined && run.to - at > PASS_LINES ? run.to : at + 1;
        for (; at < end; at++) {
          out.push(raw[at]!);
          covers.push(1);
          noteOwn(own, raw, hashes, at);
        }
        continue;
      }
      const above = out.length - 1 - lastReference;
      const isNamed = options.overHidden !== 'none';
      const around = isNamed ? hiddenAround(run, lines, literal.size > 0 ? 0 : above) : ALONE;
      out.length -= around.before;
      covers.length -= around.before;
      lastReference = out.push(reference) - 1;
      const covered = around.before + run.to - run.from + around.behind;
      covers.push(covered);
      used.add(run.label);
      replaced += covered;
      // What it passes over is in no range: from here on a reader counts other lines than there are.
      if (covered !== lastOf(run) - run.first + 1) own.named.fill(false, at);
      at = run.to + around.behind;
    }
    if (replaced === 0) return undefined;
    return { text: out.join('\n'), lines: replaced, labels: used, covers };
  }

  private runAt(own: OwnLines, hashes: readonly number[], at: number): Run | undefined {
    const long = this.longestRun(own, hashes, at);
    if (long !== undefined) return long;
    const short = this.shortRun(own, hashes, at);
    // A short run must not take the first line of a long one.
    if (short === undefined || short.to - at < 2) return short;
    return this.longestRun(own, hashes, at + 1) === undefined ? short : { ...short, to: at + 1 };
  }

  private longestRun(own: OwnLines, hashes: readonly number[], at: number): Run | undefined {
    if (at + MIN_LINES > own.lines.length) return undefined;
    const key = hashRun(hashes, at);
    const before = own.lineOf.get(key);
    const length = before === undefined ? 0 : ownRun(own, before, at);
    let best: Run | undefined;
    if (before !== undefined && length >= MIN_LINES) best = runOf(own, before, at, length);
    for (const occurrence of this.earlier(own, key)) {
      const block = this.blocks[occurrence.block]!;
      const all = sameLines(block.lines, occurrence.line, own.lines, at);
      const same = shownRun(block, occurrence.line, all, own.options.overHidden === undefined);
      if (same >= MIN_LINES && same > (best === undefined ? 0 : best.to - best.from))
        best = runOf(block, occurrence.line, at, same);
    }
    return best;
  }

  private earlier({ options }: OwnLines, key: number): readonly Occurrence[] {
    return options.earlier === false ? [] : (this.occurrences.get(key) ?? []);
  }

  /** A run of one or two lines, where the first is long. */
  private shortRun(own: OwnLines, hashes: readonly number[], at: number): Run | undefined {
    if (own.lines[at]!.length < LONG_LINE || !WORD.test(own.lines[at]!)) return undefined;
    const key = hashes[at]!;
    const before = own.long.get(key);
    const length = before === undefined ? 0 : ownRun(own, before, at);
    if (before !== undefined && length > 0) return runOf(own, before, at, length);
    const occurrence = own.options.earlier === false ? undefined : this.long.get(key);
    if (occurrence === undefined) return undefined;
    const block = this.blocks[occurrence.block]!;
    const all = sameLines(block.lines, occurrence.line, own.lines, at);
    const same = shownRun(block, occurrence.line, all, own.options.overHidden === undefined);
    return same === 0 ? undefined : runOf(block, occurrence.line, at, same);
  }
}

function noteOwn(
  own: OwnLines,
  raw: readonly string[],
  hashes: readonly number[],
  at: number,
): void {
  if (own.options.own === false) return;
  own.verbatim[at] = own.named[at] === true && !raw[at]!.startsWith(MARK);
  if (own.verbatim[at] && own.lines[at]!.length >= LONG_LINE && !own.long.has(hashes[at]!))
    own.long.set(hashes[at]!, at);
  const start = at + 1 - MIN_LINES;
  if (start >= 0 && own.verbatim[start] === true) own.lineOf.set(hashRun(hashes, start), start);
}

/** How a text names its own lines. */
export const OWN = 'this text';

/** `count` lines from `at` on that stood in an earlier text, or above in this one, from `line` on. */
function runOf(source: EarlierBlock | OwnLines, line: number, at: number, count: number): Run {
  const label = 'label' in source ? source.label : OWN;
  const { numbers, prefixes, printed } = source;
  const counted = numbers[line]!;
  const number = printed?.[line] ?? Number.NaN;
  const isOther = !Number.isNaN(number) && number !== counted;
  const named = isOther
    ? ({ first: number, by: 'printed' } as const)
    : ({ first: counted, by: 'count' } as const);
  const hidden = 'hidden' in source ? source.hidden : undefined;
  const there = { lines: source.lines, hidden, numbers, printed, prefixes, line };
  return { from: at, to: at + count, label, ...named, ...there };
}

/** The reference for a run, or undefined where it would hardly be shorter than the lines, or lose their numbers. */
function refer(
  run: Run,
  words: Words,
  raw: readonly string[],
  prefixes: SplitLines['prefixes'],
  least: number,
): string | undefined {
  const lines = raw.slice(run.from, run.to);
  const numbers = numbersOf(run, prefixes);
  if (numbers === undefined) return undefined;
  const count = run.to - run.from;
  const range = { from: run.first, to: lastOf(run), by: run.by };
  const text = writeReference(run.label, range, words, numbers);
  const floor = count < MIN_LINES ? MIN_TOKENS_SAVED_SHORT : MIN_TOKENS_SAVED;
  const replaced = lines.join('\n');
  // Signs are many tokens in few bytes: what is cheaper by one measure must not cost by the other.
  if (Buffer.byteLength(text) > Buffer.byteLength(replaced)) return undefined;
  return estimateTokens(replaced) - estimateTokens(text) >= Math.max(floor, least)
    ? text
    : undefined;
}

/** True if the last of these lines can be seen where it stands, without a number before it. */
function isPlain(
  lines: readonly string[],
  isHidden: readonly boolean[],
  prefixes: readonly string[],
): boolean {
  const last = lines.at(-1);
  return last !== undefined && last !== GAP && !isHidden.at(-1)! && (prefixes.at(-1) ?? '') === '';
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function cleanLabel(label: string): string {
  // oxlint-disable-next-line no-control-regex -- a label is one line of plain text
  return label.replace(/[\u0000-\u001f\]]+/g, ' ').trim();
}
