/**
 * Repeats across a conversation: lines that were sent before are replaced by a reference to where
 * they are. It works on runs of lines, so that a second read of a part of a file, with or without
 * line numbers, and a test run with the same output both count. References only point to text that
 * was sent verbatim, and only backwards.
 */
import { createHash } from 'node:crypto';
import { estimateTokens } from '../../model/tokens.ts';
import { splitNumbers, type SplitLines } from './gutter.ts';
import { printedNumbers } from './printed-numbers.ts';
import { MARK } from '../text/marker.ts';
import { readRepeatCount } from '../text/repeats.ts';
import { numbersOfLines, writeReference, type Wording } from './reference.ts';
import type { SentForm } from './same-text.ts';
import {
  clipRun,
  hiddenAround,
  hashLine,
  hashRun,
  lastNumberOf,
  numbersOf,
  ownRun,
  sameLines,
  type OwnText,
  referableLength,
  type Run,
} from './runs.ts';

const MIN_LINES = 3;
const MIN_TOKENS_SAVED = 5;
/**
 * Runs shorter than `MIN_LINES` must begin with a line of at least this many characters, and save
 * more tokens.
 */
const LONG_LINE = 40;
const MIN_TOKENS_SAVED_SHORT = 8;
/** Rulers and frames have no words; a reference to them would be no easier to read. */
const WORD = /[\p{L}\p{N}]/u;
/**
 * How many earlier occurrences of the same three lines are tried; more would make repetitive logs
 * slow.
 */
const MAX_CANDIDATES = 6;
const SKIPPED_RUN_LINES = 50;
/** A line repeated more often is indexed once. */
const MAX_COPIES = 100;
/** Stands for lines that are missing or were re-encoded; it equals no line of any other text. */
export const GAP = '\u0000\n';

interface EarlierBlock {
  readonly label: string;
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly prefixes: SplitLines['prefixes'];
  readonly printed: readonly number[] | undefined;
  /**
   * Lines left out when the block was sent, e.g. comments of code: known, but not visible there.
   */
  readonly hidden?: readonly boolean[];
}

interface Occurrence {
  readonly block: number;
  readonly line: number;
}

/** Lines of the current text sent verbatim so far, indexed like those of earlier blocks. */
interface OwnLines extends OwnText {
  readonly prefixes: SplitLines['prefixes'];
  readonly printed: readonly number[] | undefined;
  /** Lines whose number equals that in the original block. */
  readonly countable: boolean[];
  readonly verbatim: boolean[];
  readonly lineOf: Map<number, number>;
  /** Long lines by their own hash. */
  readonly longLines: Map<number, number>;
  readonly options: RepeatOptions;
}

const NO_LINES: ReadonlySet<number> = new Set();
const NOTHING_HIDDEN = { before: 0, after: 0 };

/** Which lines of a text may become references, and how. */
export interface RepeatOptions {
  /** Number of lines of the block before the text. */
  readonly before?: number;
  /** Original line number of each line, from `originsOf`; absent for an unchanged text. */
  readonly origins?: readonly number[];
  /** Minimum of estimated tokens that each reference must save. */
  readonly min?: number;
  /** Lines that stay verbatim, by index. */
  readonly literal?: ReadonlySet<number>;
  /** Lines that must not refer to another line of the same text, by index. */
  readonly distinct?: ReadonlySet<number>;
  /** False where references to the text's own lines are not allowed; absent: allowed. */
  readonly mayReferToOwn?: boolean;
  /**
   * Whether a reference may cover lines left out at its target: only around the run, nowhere, or
   * (absent) also inside it.
   */
  readonly overHidden?: 'around' | 'none';
  /** False where references to earlier blocks are not allowed; absent: allowed. */
  readonly mayReferToEarlier?: boolean;
}

/** Result of `replaceRepeats`. */
export interface TextWithReferences {
  readonly text: string;
  /** Number of input lines that references replaced. */
  readonly lines: number;
  /** Labels of the earlier texts it refers to. */
  readonly labels: ReadonlySet<string>;
  /** Number of input lines that each line of `text` stands for. */
  readonly covers: readonly number[];
}

/** Lines left out of a text whose original is known. */
export interface Hidden {
  /** By index. */
  readonly lines: ReadonlySet<number>;
  /** The number of every other line as counted in the sent text; absent: as in the original. */
  readonly numbers?: readonly number[];
}

/** Index of all lines sent so far, by content. Grows with the conversation, never shrinks. */
export class SentLines {
  /** Labels used in a reference so far; the first one is a sentence. */
  private readonly introduced = new Set<string>();
  readonly blocks: EarlierBlock[] = [];
  /** Texts sent in another form, by a hash of the original, which may be long. */
  private readonly forms = new Map<string, SentForm>();
  private readonly occurrences = new Map<number, Occurrence[]>();
  /** First occurrence of each long line, by its own hash. */
  private readonly long = new Map<number, Occurrence>();

  /**
   * Adds the sent form of a block. Markers are not content and are never referred to, nor are lines
   * that are not in the original block (`origins`). With an unchanged text, `hidden` lines were
   * left out; a reference may skip over a few of them.
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
      const times = readRepeatCount(raw[at]!) ?? 0;
      // A repeat count stands for lines whose reader has seen them: the line above, that many
      // times.
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
      else if (known.length < MAX_CANDIDATES) known.push({ block, line });
    }
  }

  /**
   * Records that `original` was sent as `text`, which holds no reference. The first form is kept.
   */
  addForm(label: string, original: string, text: string): void {
    const key = hashText(original);
    if (!this.forms.has(key)) this.forms.set(key, { label: cleanLabel(label), text });
  }

  /** Returns the other form in which `original` was sent, if any. */
  formOf(original: string): SentForm | undefined {
    return this.forms.size === 0 ? undefined : this.forms.get(hashText(original));
  }

  /** Returns the form with this label. */
  formNamed(label: string): SentForm | undefined {
    return [...this.forms.values()].find((form) => form.label === label);
  }

  /** Wording of the next reference. */
  get wording(): Wording {
    return this.introduced.size > 0 ? 'named' : 'full';
  }

  /** Records that these labels were introduced, so that later references can be shorter. */
  introduce(labels: ReadonlySet<string>): void {
    for (const label of labels) this.introduced.add(label);
  }

  /**
   * Replaces runs of lines that were sent before, in an earlier block or above in this one;
   * undefined if that saves nothing.
   */
  replaceRepeats(text: string, options: RepeatOptions = {}): TextWithReferences | undefined {
    const { before = 0, origins, min = 0, literal = NO_LINES, distinct = NO_LINES } = options;
    const raw = text.split('\n');
    const { contents: lines, prefixes } = splitNumbers(raw);
    const hashes = lines.map(hashLine);
    const numbers = numbersOfLines(raw, before);
    const own: OwnLines = {
      lines,
      numbers,
      prefixes,
      printed: printedNumbers({ contents: lines, prefixes }),
      // Readers count by the markers: lines whose count is off cannot be referred to.
      countable: lines.map((_, at) => origins === undefined || origins[at] === numbers[at]),
      verbatim: lines.map(() => false),
      distinct,
      lineOf: new Map(),
      longLines: new Map(),
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
      const wording = used.size > 0 ? 'named' : this.wording;
      const reference = run === undefined ? undefined : refer(run, wording, raw, prefixes, min);
      if (run === undefined || reference === undefined) {
        // A long run that cannot become a reference is skipped whole, or each of its lines would
        // search it again.
        const end = run !== undefined && run.to - at > SKIPPED_RUN_LINES ? run.to : at + 1;
        for (; at < end; at++) {
          out.push(raw[at]!);
          covers.push(1);
          noteOwn(own, raw, hashes, at);
        }
        continue;
      }
      const above = out.length - 1 - lastReference;
      const isNamed = options.overHidden !== 'none';
      const around = isNamed
        ? hiddenAround(run, lines, literal.size > 0 ? 0 : above)
        : NOTHING_HIDDEN;
      out.length -= around.before;
      covers.length -= around.before;
      lastReference = out.push(reference) - 1;
      const covered = around.before + run.to - run.from + around.after;
      covers.push(covered);
      used.add(run.label);
      replaced += covered;
      // Skipped lines are in no range: from here on a reader's count is off.
      if (covered !== lastNumberOf(run) - run.first + 1) own.countable.fill(false, at);
      at = run.to + around.after;
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
      const same = referableLength(
        block,
        occurrence.line,
        all,
        own.options.overHidden === undefined,
      );
      if (same >= MIN_LINES && same > (best === undefined ? 0 : best.to - best.from))
        best = runOf(block, occurrence.line, at, same);
    }
    return best;
  }

  private earlier({ options }: OwnLines, key: number): readonly Occurrence[] {
    return options.mayReferToEarlier === false ? [] : (this.occurrences.get(key) ?? []);
  }

  /** Finds a run of one or two lines, the first of which is long. */
  private shortRun(own: OwnLines, hashes: readonly number[], at: number): Run | undefined {
    if (own.lines[at]!.length < LONG_LINE || !WORD.test(own.lines[at]!)) return undefined;
    const key = hashes[at]!;
    const before = own.longLines.get(key);
    const length = before === undefined ? 0 : ownRun(own, before, at);
    if (before !== undefined && length > 0) return runOf(own, before, at, length);
    const occurrence = own.options.mayReferToEarlier === false ? undefined : this.long.get(key);
    if (occurrence === undefined) return undefined;
    const block = this.blocks[occurrence.block]!;
    const all = sameLines(block.lines, occurrence.line, own.lines, at);
    const same = referableLength(block, occurrence.line, all, own.options.overHidden === undefined);
    return same === 0 ? undefined : runOf(block, occurrence.line, at, same);
  }
}

function noteOwn(
  own: OwnLines,
  raw: readonly string[],
  hashes: readonly number[],
  at: number,
): void {
  if (own.options.mayReferToOwn === false) return;
  own.verbatim[at] = own.countable[at] === true && !raw[at]!.startsWith(MARK);
  if (own.verbatim[at] && own.lines[at]!.length >= LONG_LINE && !own.longLines.has(hashes[at]!))
    own.longLines.set(hashes[at]!, at);
  const start = at + 1 - MIN_LINES;
  if (start >= 0 && own.verbatim[start] === true) own.lineOf.set(hashRun(hashes, start), start);
}

/** Label by which a text refers to its own lines. */
export const OWN_LABEL = 'this text';

/**
 * Builds the run of `count` lines from `at` that were at `line` in an earlier text, or above in
 * this one.
 */
function runOf(source: EarlierBlock | OwnLines, line: number, at: number, count: number): Run {
  const label = 'label' in source ? source.label : OWN_LABEL;
  const { numbers, prefixes, printed } = source;
  const counted = numbers[line]!;
  const number = printed?.[line] ?? Number.NaN;
  const isOther = !Number.isNaN(number) && number !== counted;
  const named = isOther
    ? ({ first: number, by: 'printed' } as const)
    : ({ first: counted, by: 'count' } as const);
  const hidden = 'hidden' in source ? source.hidden : undefined;
  const target = { lines: source.lines, hidden, numbers, printed, prefixes, line };
  return { from: at, to: at + count, label, ...named, ...target };
}

/**
 * Returns the reference for a run; undefined if it would hardly be shorter or would lose line
 * numbers.
 */
function refer(
  run: Run,
  wording: Wording,
  raw: readonly string[],
  prefixes: SplitLines['prefixes'],
  min: number,
): string | undefined {
  const lines = raw.slice(run.from, run.to);
  const numbers = numbersOf(run, prefixes);
  if (numbers === undefined) return undefined;
  const count = run.to - run.from;
  const range = { from: run.first, to: lastNumberOf(run), by: run.by };
  const text = writeReference(run.label, range, wording, numbers);
  const floor = count < MIN_LINES ? MIN_TOKENS_SAVED_SHORT : MIN_TOKENS_SAVED;
  const replaced = lines.join('\n');
  // Punctuation is many tokens in few bytes: a saving by one measure must not be a loss by the
  // other.
  if (Buffer.byteLength(text) > Buffer.byteLength(replaced)) return undefined;
  return estimateTokens(replaced) - estimateTokens(text) >= Math.max(floor, min) ? text : undefined;
}

/** Returns true if the last of these lines is visible where it was sent, without a line number. */
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
