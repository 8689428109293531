/**
 * Repeats across a conversation: lines that went out before are named by where they
 * stand, not sent again. Works on runs of lines, so that a second look at part of a file,
 * with or without line numbers, and a run of tests with the same output both count. Only
 * text that went out verbatim is ever referred to, and only text that came earlier.
 */
import { estimateTokens } from '../../model/tokens.ts';
import { fillGutter, numberAt, readNumbering, splitNumbers, type SplitLines } from './gutter.ts';
import { MARK } from '../text/marker.ts';
import {
  numbersOfLines,
  readReference,
  writeReference,
  type Numbers,
  type Words,
} from './reference.ts';

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
/** Stands where lines of a text are missing, or were written in another way: equals no line of any other. */
const GAP = '\u0000\n';

interface EarlierBlock {
  readonly label: string;
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly prefixes: SplitLines['prefixes'];
  /** Lines that were left out where it stood, comments of code: known, but not to be seen there. */
  readonly hidden?: readonly boolean[];
}

interface Occurrence {
  readonly block: number;
  readonly line: number;
}

interface Run {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** The number of the first line where it stood before. */
  readonly first: number;
  /** What stood before the lines of that text, and the index of the first of them in it. */
  readonly prefixes: SplitLines['prefixes'];
  readonly line: number;
}

/** Lines of the text in hand that went out verbatim so far, findable like those of earlier blocks. */
interface OwnLines {
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly prefixes: SplitLines['prefixes'];
  /** Lines whose number is that of the block as it came. */
  readonly named: readonly boolean[];
  readonly verbatim: boolean[];
  readonly lineOf: Map<number, number>;
  /** Long lines by their own hash. */
  readonly long: Map<number, number>;
  readonly options: RepeatOptions;
}

const NO_LINES: ReadonlySet<number> = new Set();

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
  /** False where the text's own lines must not be named; they may be if absent. */
  readonly own?: boolean;
  /** False where a reference must not pass over lines that were left out where they stood; it may if absent. */
  readonly overHidden?: boolean;
  /** False where nothing earlier may be named; it may be if absent. */
  readonly earlier?: boolean;
}

/** What `replaceRepeats` made of a text. */
export interface Referred {
  readonly text: string;
  /** True if nothing but references and blank lines is left. */
  readonly alone: boolean;
  /** Lines of the input that now stand in a reference, as a count. */
  readonly lines: number;
  /** Which earlier texts it names. */
  readonly labels: ReadonlySet<string>;
}

/** All lines that went out so far, findable by content. Grows with the conversation, never shrinks. */
export class SentLines {
  /** Labels that a reference has spelled out; the first one is a sentence. */
  private readonly introduced = new Set<string>();
  private readonly blocks: EarlierBlock[] = [];
  private readonly occurrences = new Map<number, Occurrence[]>();
  /** Where a long line went out first, by its own hash. */
  private readonly long = new Map<number, Occurrence>();

  /**
   * Adds what went out for a block. Lines that are markers of ours are no content and are
   * never referred to, nor is what is no line of the block as it came (`origins`). Of a text
   * as it came, lines of `hidden` were left out; a reference may pass over few of them.
   */
  add(
    label: string,
    text: string,
    origins?: readonly number[],
    hidden?: ReadonlySet<number>,
  ): void {
    const raw = text.split('\n');
    const counted = origins ?? numbersOfLines(raw);
    const lines: string[] = [];
    const numbers: number[] = [];
    const { contents, prefixes: printed } = splitNumbers(raw);
    const prefixes: string[] = [];
    let last = Number.NaN;
    contents.forEach((content, at) => {
      const number = raw[at]!.startsWith(MARK) ? Number.NaN : counted[at]!;
      const isContent = !Number.isNaN(number);
      if (lines.length > 0 && (!isContent || number !== last + 1)) {
        lines.push(GAP);
        numbers.push(Number.NaN);
        if (printed !== undefined) prefixes.push('');
      }
      if (isContent) {
        lines.push(content);
        numbers.push(number);
        if (printed !== undefined) prefixes.push(printed[at]!);
      }
      last = number;
    });
    const block =
      this.blocks.push({
        label: cleanLabel(label),
        lines,
        numbers,
        prefixes: printed === undefined ? undefined : prefixes,
        ...(hidden === undefined
          ? {}
          : { hidden: numbers.map((number) => hidden.has(number - 1)) }),
      }) - 1;
    const hashes = lines.map(hashLine);
    lines.forEach((content, line) => {
      const key = hashes[line]!;
      if (hidden?.has(numbers[line]! - 1) === true) return;
      if (content.length >= LONG_LINE && !this.long.has(key)) this.long.set(key, { block, line });
    });
    for (let line = 0; line + MIN_LINES <= lines.length; line++) {
      const key = hashRun(hashes, line);
      const known = this.occurrences.get(key);
      if (known === undefined) this.occurrences.set(key, [{ block, line }]);
      else if (known.length < CANDIDATES) known.push({ block, line });
    }
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
    const { before = 0, origins, least = 0, literal = NO_LINES } = options;
    const raw = text.split('\n');
    const { contents: lines, prefixes } = splitNumbers(raw);
    const hashes = lines.map(hashLine);
    const numbers = numbersOfLines(raw, before);
    const own: OwnLines = {
      lines,
      numbers,
      prefixes,
      // A reader counts by the markers: what they do not count right cannot be named.
      named: lines.map((_, at) => origins === undefined || origins[at] === numbers[at]),
      verbatim: lines.map(() => false),
      lineOf: new Map(),
      long: new Map(),
      options,
    };
    const out: string[] = [];
    const used = new Set<string>();
    let replaced = 0;
    let alone = true;
    for (let at = 0; at < lines.length;) {
      const found = literal.has(at) ? undefined : this.runAt(own, hashes, at);
      const run = clipRun(found, prefixes, literal);
      const words = used.size + this.introduced.size > 0 ? 'named' : 'full';
      const reference = run === undefined ? undefined : refer(run, words, raw, prefixes, least);
      if (run === undefined || reference === undefined) {
        // A long run that cannot be referred to is passed whole, or each of its lines would search it anew.
        const end = run !== undefined && run.to - at > PASS_LINES ? run.to : at + 1;
        for (; at < end; at++) {
          out.push(raw[at]!);
          alone &&= raw[at]!.trim() === '';
          noteOwn(own, raw, hashes, at);
        }
        continue;
      }
      out.push(reference);
      used.add(run.label);
      replaced += run.to - run.from;
      at = run.to;
    }
    if (replaced === 0) return undefined;
    return { text: out.join('\n'), alone, lines: replaced, labels: used };
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
      const same = shownRun(block, occurrence.line, all, own.options);
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
    const same = shownRun(block, occurrence.line, all, own.options);
    return same === 0 ? undefined : runOf(block, occurrence.line, at, same);
  }

  /** The lines that a text with references stands for. */
  restore(text: string): string {
    const out: string[] = [];
    for (const line of fillGutter(text).split('\n'))
      out.push(...(this.restoreLine(line, out) ?? [line]));
    return out.join('\n');
  }

  private restoreLine(line: string, above: readonly string[]): readonly string[] | undefined {
    const reference = readReference(line);
    if (reference === undefined) return undefined;
    const { label, from, to, numbers } = reference;
    const block =
      label === OWN ? ownBlock(above) : this.blocks.findLast((known) => known.label === label);
    const start = block?.numbers.lastIndexOf(from) ?? -1;
    if (block === undefined || start < 0) return undefined;
    return block.lines.slice(start, start + to - from + 1).map((content, at) => {
      if (numbers === 'none') return content;
      if (numbers !== 'same') return numberAt(numbers, at) + content;
      return (block.prefixes?.[start + at] ?? '') + content;
    });
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
const OWN = 'this text';

function ownBlock(above: readonly string[]): Omit<EarlierBlock, 'label'> {
  const { contents, prefixes } = splitNumbers(above);
  return { lines: contents, numbers: numbersOfLines(above), prefixes };
}

/** `count` lines from `at` on that stood in an earlier text, or above in this one, from `line` on. */
function runOf(source: EarlierBlock | OwnLines, line: number, at: number, count: number): Run {
  const label = 'label' in source ? source.label : OWN;
  const { numbers, prefixes } = source;
  return { from: at, to: at + count, label, first: numbers[line]!, prefixes, line };
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
  const range = { from: run.first, to: run.first + count - 1 };
  const text = writeReference(run.label, range, words, numbers);
  const floor = count < MIN_LINES ? MIN_TOKENS_SAVED_SHORT : MIN_TOKENS_SAVED;
  const replaced = lines.join('\n');
  // Signs are many tokens in few bytes: what is cheaper by one measure must not cost by the other.
  if (Buffer.byteLength(text) > Buffer.byteLength(replaced)) return undefined;
  return estimateTokens(replaced) - estimateTokens(text) >= Math.max(floor, least)
    ? text
    : undefined;
}

/** How the lines of a run are numbered, which is so for all or for none of them; undefined where that cannot be put in words. */
function numbersOf(run: Run, prefixes: SplitLines['prefixes']): Numbers | undefined {
  const here = (at: number): string => prefixes?.[run.from + at] ?? '';
  const there = (at: number): string => run.prefixes?.[run.line + at] ?? '';
  const isSo = (holds: (at: number) => boolean): boolean => {
    for (let at = 0; at < run.to - run.from; at++) if (!holds(at)) return false;
    return true;
  };
  if (here(0) === '' && isSo((at) => here(at) === ''))
    return run.prefixes === undefined || isSo((at) => there(at) === '') ? 'same' : 'none';
  if (here(0) === '') return 'same';
  const numbering = readNumbering(here(0));
  if (numbering === undefined) return undefined;
  if (isCounted(run, prefixes, 0) && isSo((at) => here(at) === there(at))) return 'same';
  return isSo((at) => here(at) === numberAt(numbering, at)) ? { first: here(0) } : undefined;
}

/** True where the number before a line is the one that a reference counts: a view may begin further down. */
function isCounted(run: Run, prefixes: SplitLines['prefixes'], at: number): boolean {
  return readNumbering(prefixes?.[run.from + at] ?? '')?.first === run.first + at;
}

/**
 * The part of a run that can be put in one reference: numbered throughout, or not at all, or
 * as the lines were where they stood. It ends before a line that must stay.
 */
function clipRun(
  run: Run | undefined,
  prefixes: SplitLines['prefixes'],
  literal: ReadonlySet<number>,
): Run | undefined {
  if (run === undefined) return undefined;
  const isNumbered = (at: number): boolean => prefixes !== undefined && prefixes[at] !== '';
  const isAsThere = (at: number): boolean =>
    (prefixes?.[at] ?? '') === (run.prefixes?.[run.line + at - run.from] ?? '') &&
    (!isNumbered(at) ||
      (at > run.from && isNumbered(at - 1)) ||
      isCounted(run, prefixes, at - run.from));
  let asThere = isAsThere(run.from);
  let isMixed = false;
  let to = run.from + 1;
  for (; to < run.to && !literal.has(to); to++) {
    asThere &&= isAsThere(to);
    isMixed ||= isNumbered(to) !== isNumbered(to - 1);
    if (isMixed && !asThere) break;
  }
  return { ...run, to };
}

function ownRun(own: OwnLines, before: number, at: number): number {
  let length = 0;
  while (
    at + length < own.lines.length &&
    before + length < at &&
    own.verbatim[before + length] === true &&
    own.numbers[before + length] === own.numbers[before]! + length &&
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

/** At most such a share of what a reference names may have been left out where it stood. */
const HIDDEN_SHARE = 1 / 3;

/** How many of `length` lines from `line` on may be named: they begin and end with one that can be seen. */
function shownRun(
  { hidden }: EarlierBlock,
  line: number,
  length: number,
  { overHidden = true }: RepeatOptions,
): number {
  if (hidden === undefined) return length;
  if (hidden[line] === true) return 0;
  let end = length;
  while (end > 0 && hidden[line + end - 1] === true) end--;
  let count = 0;
  let firstHidden = end;
  for (let at = end - 1; at > 0; at--) {
    if (hidden[line + at] !== true) continue;
    count++;
    firstHidden = at;
  }
  return overHidden && count <= end * HIDDEN_SHARE ? end : firstHidden;
}

function cleanLabel(label: string): string {
  // oxlint-disable-next-line no-control-regex -- a label is one line of plain text
  return label.replace(/[\u0000-\u001f\]]+/g, ' ').trim();
}

/** A 32-bit hash of a line (FNV-1a over UTF-16 units). */
function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** A key of the three lines from `line` on. */
function hashRun(hashes: readonly number[], at: number): number {
  // Three 32-bit hashes mixed into a number below 2^53; equal keys are compared line by line.
  return (
    (Math.imul(hashes[at]!, 31) ^ hashes[at + 1]!) * 2097151 +
    ((hashes[at + 2]! ^ (hashes[at]! >>> 7)) & 0x1fffff)
  );
}
