/**
 * Patterns written by users. Each is a regular expression for one line, restricted so that its work
 * per line is bounded: no pattern can block the thread it runs in.
 */
import { withoutColours } from '../../model/classify/colours.ts';

/** Longest part of a line that a pattern sees, in characters. */
const MAX_LINE_CHARS = 500;
/** Maximum number of match attempts that a pattern may need on one line: about 10 ms. */
const MAX_STEPS = 5_000_000;
const MAX_SOURCE_CHARS = 1000;

/** A pattern that passed the check. A leading `(?i)` ignores case. */
export type Pattern = ReturnType<typeof toPattern>;

/** Returns why `source` cannot be used, as the end of a sentence; undefined if it can. */
export function patternFault(source: string): string | undefined {
  const checked = check(source);
  return 'fault' in checked ? checked.fault : undefined;
}

function check(source: string): { readonly fault: string } | { readonly isAnchored: boolean } {
  if (source.length > MAX_SOURCE_CHARS)
    return { fault: `is longer than ${MAX_SOURCE_CHARS} characters` };
  try {
    void new RegExp(bodyOf(source));
  } catch {
    return { fault: 'is not a regular expression' };
  }
  const { steps, isAnchored } = new CostReader(bodyOf(source)).read();
  if (typeof steps === 'string') return { fault: steps };
  if (steps <= MAX_STEPS) return { isAnchored };
  return {
    fault: 'may take too long on a line: begin it with ^, or bound its repetitions, as in .{0,80}',
  };
}

/** Compiles a pattern. Throws a RangeError for one that `patternFault` refuses. */
export function toPattern(source: string) {
  const fault = patternFault(source);
  if (fault !== undefined) throw new RangeError(`${source} ${fault}`);
  const expression = new RegExp(bodyOf(source), flagsOf(source));
  return {
    /** Returns true if the pattern matches in the line, colours ignored. */
    test: (line: string): boolean => expression.test(searchedText(line)),
    exec: (line: string): RegExpExecArray | null => expression.exec(searchedText(line)),
  };
}

/**
 * Returns a test for whether any of the patterns matches in a line. They are compiled into one
 * search, anchored patterns apart from the others, which costs about as much as a single pattern.
 * Throws a RangeError for a pattern that `patternFault` refuses.
 */
export function anyPattern(sources: readonly string[]): (line: string) => boolean {
  const groups = new Map<string, string[]>();
  for (const source of sources) {
    const checked = check(source);
    if ('fault' in checked) throw new RangeError(`${source} ${checked.fault}`);
    const { isAnchored } = checked;
    const body = bodyOf(source);
    const kind = `${isAnchored ? '^' : ''} ${flagsOf(source)}`;
    groups.set(kind, [...(groups.get(kind) ?? []), `(?:${isAnchored ? body.slice(1) : body})`]);
  }
  const expressions = [...groups].flatMap(([kind, bodies]) => joinSources(bodies, kind));
  return (line) => {
    const text = searchedText(line);
    return expressions.some((expression) => expression.test(text));
  };
}

/** A list of patterns, any of which may match. */
export class Patterns {
  /** Returns true for a line in which any of them matches. */
  readonly test: (line: string) => boolean;
  readonly #sources: readonly string[];
  #each: readonly Pattern[] | undefined;

  constructor(sources: readonly string[]) {
    this.#sources = sources;
    this.test = anyPattern(sources);
  }

  /** Yields the match of each pattern in a line, in the order of the patterns. */
  *matchesIn(line: string): Generator<RegExpExecArray> {
    this.#each ??= this.#sources.map(toPattern);
    for (const pattern of this.#each) {
      const match = pattern.exec(line);
      if (match !== null) yield match;
    }
  }

  /** Returns the first group of the first match, or the whole match; undefined if none matches. */
  captureIn(line: string): string | undefined {
    const [match] = this.matchesIn(line);
    return match?.[1] ?? match?.[0];
  }
}

/** Builds one expression for all, or one each where two patterns share a group name. */
function joinSources(bodies: readonly string[], kind: string): readonly RegExp[] {
  const [start, flags] = kind.split(' ');
  const toExpression = (body: string): RegExp => new RegExp(`${start}(?:${body})`, flags);
  try {
    return [toExpression(bodies.join('|'))];
  } catch {
    return bodies.map(toExpression);
  }
}

const IGNORE_CASE = '(?i)';
const flagsOf = (source: string): string => (source.startsWith(IGNORE_CASE) ? 'i' : '');
const bodyOf = (source: string): string =>
  source.startsWith(IGNORE_CASE) ? source.slice(IGNORE_CASE.length) : source;

function searchedText(line: string): string {
  const plain = withoutColours(line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line);
  return plain.endsWith('\r') ? plain.slice(0, -1) : plain;
}

/** One part of a sequence. */
interface Part {
  /** Number of ways in which the part itself can match from one position. */
  readonly ways: number;
  /** Source of a single-character part; undefined for groups and zero-width parts. */
  readonly atom: string | undefined;
  readonly min: number;
  readonly isLoop: boolean;
}

// oxlint-disable-next-line typescript/no-misused-spread -- each of them is one code point
const ALPHABET = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCodePoint(code)),
  'é',
  '世',
];
const ZERO_WIDTH = /^(?:\^|\$|\\[bB])$/;
const QUANTIFIER = /^(?:\*|\+|\?|\{(\d+)(?:(,)(\d*))?\})\??/;
const GROUP = /^\((?:\?(?::|=|!|<[=!]|<[A-Za-z]\w*>))?/;
const ATOM =
  /^(?:\\(?:[pP]\{[^}]{1,40}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Z]|[^])|\[(?:\\[^]|[^\]\\]){0,400}\]|[^])/;

/** Cost of a pattern on a line. */
interface Cost {
  /** Number of attempts, or why the pattern is refused. */
  readonly steps: number | string;
  /** True if it matches only at the start of a line. */
  readonly isAnchored: boolean;
}

/**
 * Parses a pattern and counts the ways to try it: the product over all parts of variable length.
 */
class CostReader {
  #at = 0;
  #fault: string | undefined;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Cost {
    const first = this.#sequence(true);
    const isAnchored = this.#source.startsWith('^') && this.#at >= this.#source.length;
    const ways = first + this.#waysOfRest(true);
    return { steps: this.#fault ?? ways * (isAnchored ? 1 : MAX_LINE_CHARS), isAnchored };
  }

  #alternatives(): number {
    return this.#sequence() + this.#waysOfRest();
  }

  #waysOfRest(isWhole = false): number {
    let ways = 0;
    while (this.#source.charAt(this.#at) === '|') {
      this.#at += 1;
      ways += this.#sequence(isWhole);
    }
    return ways;
  }

  /** `isWhole`: nothing follows the sequence that could fail. */
  #sequence(isWhole = false): number {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at)))
      parts.push(this.#part());
    const last = isWhole && parts.at(-1)?.atom !== undefined ? parts.length - 1 : parts.length;
    return parts.slice(0, last).reduce((ways, part, at) => ways * choices(part, parts[at + 1]), 1);
  }

  #part(): Part {
    const rest = this.#source.slice(this.#at);
    const open = GROUP.exec(rest)?.[0];
    let ways = 1;
    let atom = '';
    if (open === undefined) {
      atom = ATOM.exec(rest)![0];
      this.#at += atom.length;
      if (/^\\(?:[1-9]|k)/.test(atom)) this.#refuse('refers back to a group');
    } else {
      if (rest.startsWith('(?<=') || rest.startsWith('(?<!')) this.#refuse('looks behind');
      this.#at += open.length;
      ways = this.#alternatives();
      this.#at += 1;
    }
    const quantifier = QUANTIFIER.exec(this.#source.slice(this.#at));
    this.#at += quantifier?.[0].length ?? 0;
    const [least, most] = timesOf(quantifier);
    if (open !== undefined && most > 1 && ways > 1)
      this.#refuse('repeats a group in which something is optional, repeated or one of several');
    const isSingle = open === undefined && !ZERO_WIDTH.test(atom);
    return {
      ways: ways * (most - least + 1),
      atom: isSingle ? atom : undefined,
      min: least,
      isLoop: most > least,
    };
  }

  #refuse(why: string): void {
    this.#fault ??= `${why}, which can take very long`;
  }
}

/**
 * Returns the ways to try a part: one for a loop that ends where the next part begins, as it never
 * backtracks.
 */
function choices(part: Part, next: Part | undefined): number {
  const begin = next?.min === 0 ? undefined : next?.atom;
  if (!part.isLoop || part.atom === undefined || begin === undefined) return part.ways;
  const chars = charsOf(part.atom);
  return charsOf(begin).some((char) => chars.includes(char)) ? part.ways : 1;
}

function timesOf(quantifier: RegExpExecArray | null): readonly [least: number, most: number] {
  if (quantifier === null) return [1, 1];
  const [whole, least, comma, most] = quantifier;
  if (whole.startsWith('*')) return [0, MAX_LINE_CHARS];
  if (whole.startsWith('+')) return [1, MAX_LINE_CHARS];
  if (whole.startsWith('?')) return [0, 1];
  const from = Math.min(Number(least), MAX_LINE_CHARS);
  if (comma === undefined) return [from, from];
  return [from, most === '' ? MAX_LINE_CHARS : Math.min(Number(most), MAX_LINE_CHARS)];
}

/** Returns the characters that a single-character part can match. */
function charsOf(atom: string): readonly string[] {
  const one = new RegExp(`^${atom === '/' ? '\\/' : atom}$`, 'i');
  return ALPHABET.filter((char) => one.test(char));
}
