/**
 * Lines that differ from their neighbours only in an unusual value: a request that took a hundred
 * times as long, a sum far below all others, a single different status among hundreds.
 */

import { templateOf } from './score.ts';

/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;
/** A number with its sign, not directly preceded by a letter or another sign. */
const NUMBER = /(?<![\w.−-])[-−+]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
/** The quantity of a number: the word before it, and the unit after it. */
const WORD_BEFORE = /([\p{L}_]{0,24})["']?[^\p{L}\p{N}]{0,4}$/u;
const UNIT_AFTER = /^ ?(%|[\p{L}µ/]{1,8}(?![\p{L}\p{N}]))/u;
const DELIMITERS = [',', '\t', ';', '|'] as const;
/** Minimum number of values that can show which one is an outlier. */
const MIN_VALUES = 12;
/** Distance from the median, in typical deviations, from which a value is an outlier. */
const OUTLIER_DISTANCE = 12;
/** If more than this share of values are far from the median, none is an outlier. */
const MAX_OUTLIER_SHARE = 0.03;
/** Maximum number of values of each kind. */
const MAX_OF_KIND = 4;

interface Value {
  readonly at: number;
  readonly value: number;
}

/** Returns the indexes of such lines, the most unusual of each kind first. */
export function outlierValues(lines: readonly string[]): readonly number[] {
  return [...new Set([...outlierNumbers(lines), ...rareTokens(lines)])];
}

function outlierNumbers(lines: readonly string[]): readonly number[] {
  const kinds = new Map<string, Value[]>();
  const delimiter = delimiterOf(lines);
  for (const [at, whole] of lines.entries()) {
    const line = whole.length > MAX_LINE_CHARS ? whole.slice(0, MAX_LINE_CHARS) : whole;
    if (!/\d/.test(line)) continue;
    const note = (kind: string, text: string): void => {
      const value = Number(text.replaceAll(/[,_]/g, '').replace('−', '-'));
      if (!Number.isFinite(value)) return;
      const known = kinds.get(kind);
      if (known === undefined) kinds.set(kind, [{ at, value }]);
      else known.push({ at, value });
    };
    if (delimiter === undefined) {
      for (const match of line.matchAll(NUMBER)) {
        const before = WORD_BEFORE.exec(
          line.slice(Math.max(0, match.index - 32), match.index),
        )?.[1];
        const after = UNIT_AFTER.exec(line.slice(match.index + match[0].length))?.[1];
        if (before !== '' || after !== undefined) note(`${before} ${after ?? ''}`, match[0]);
      }
    } else
      line.split(delimiter).forEach((cell, nth) => {
        const bare = cell.trim().replaceAll('"', '');
        if (/^[-−+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(bare)) note(String(nth), bare);
      });
  }
  return [...new Set([...kinds.values()].flatMap(outliersOf))];
}

/** Separators of words. */
const WORD_SEPARATORS = /[\s|,;"]+/;
/** If a position has more distinct values than this, none of them is usual. */
const MAX_VALUES = 32;
/** Lines that are equal apart from white space, numbers and hashes. */
interface SimilarLines {
  readonly lines: number[];
  /** Counts of the values of each word; undefined if nearly each is different. */
  readonly words: (Map<string, number> | undefined)[];
}

/**
 * Finds, among lines that differ only in numbers, those with a rare value: a version, a digest, an
 * unusual host.
 */
function rareTokens(lines: readonly string[]): readonly number[] {
  const forms = new Map<string, SimilarLines>();
  const wordsOf = (at: number): readonly string[] =>
    lines[at]!.slice(0, MAX_LINE_CHARS).split(WORD_SEPARATORS);
  for (const [at, line] of lines.entries()) {
    if (!/\d/.test(line)) continue;
    const form = templateOf(line);
    const alike = forms.get(form) ?? { lines: [], words: [] };
    if (alike.lines.length === 0) forms.set(form, alike);
    alike.lines.push(at);
    wordsOf(at).forEach((word, nth) => {
      if (nth >= alike.words.length) alike.words.push(new Map());
      const counts = alike.words[nth];
      if (counts === undefined) return;
      counts.set(word, (counts.get(word) ?? 0) + 1);
      if (counts.size > MAX_VALUES) alike.words[nth] = undefined;
    });
  }
  const odd: number[] = [];
  for (const { lines: own, words } of forms.values()) {
    if (own.length < MIN_VALUES) continue;
    const max = Math.max(1, own.length * MAX_OUTLIER_SHARE);
    const usual = words.map((counts) => usualOf(counts, own.length, max));
    if (usual.every((known) => known === undefined)) continue;
    const isOdd = (at: number): boolean =>
      wordsOf(at).some((word, nth) => usual[nth]?.has(word) === false);
    odd.push(...own.filter(isOdd).slice(0, MAX_OF_KIND));
  }
  return odd;
}

/**
 * A word is usual at its position if at least this many lines have it, as a number and as a share.
 */
const MIN_USUAL_LINES = 3;
const MIN_USUAL_SHARE = 0.01;

/** Returns the usual words at a position, if all but a few of its lines have one of them. */
function usualOf(
  counts: ReadonlyMap<string, number> | undefined,
  lines: number,
  max: number,
): ReadonlySet<string> | undefined {
  if (counts === undefined || counts.size === 1) return undefined;
  const min = Math.max(MIN_USUAL_LINES, lines * MIN_USUAL_SHARE);
  const usual = [...counts].filter(([, count]) => count >= min);
  const covered = usual.reduce((sum, [, count]) => sum + count, 0);
  return covered < lines && covered >= lines - max
    ? new Set(usual.map(([word]) => word))
    : undefined;
}

/** Returns the delimiter of a table; undefined if most lines are not rows of one. */
function delimiterOf(lines: readonly string[]): string | undefined {
  const sample = lines.filter((line) => line.trim() !== '').slice(0, 200);
  if (sample.length < MIN_VALUES) return undefined;
  return DELIMITERS.find((delimiter) => {
    const counts = sample.map((line) => line.slice(0, MAX_LINE_CHARS).split(delimiter).length);
    const usual = counts.toSorted((a, b) => a - b)[counts.length >> 1]!;
    return usual > 2 && counts.filter((count) => count === usual).length > counts.length * 0.8;
  });
}

function outliersOf(values: readonly Value[]): readonly number[] {
  if (values.length < MIN_VALUES) return [];
  const middle = median(values.map(({ value }) => value));
  const usual = median(values.map(({ value }) => Math.abs(value - middle)));
  const far = values
    .map(({ at, value }) => ({ at, away: Math.abs(value - middle) }))
    .filter(({ away }) => away > usual * OUTLIER_DISTANCE);
  if (far.length > Math.max(1, values.length * MAX_OUTLIER_SHARE)) return [];
  return far
    .toSorted((one, other) => other.away - one.away || one.at - other.at)
    .slice(0, MAX_OF_KIND)
    .map(({ at }) => at);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
}
