/**
 * Finds pauses and gaps in a log: consecutive lines with far more time between them than all
 * others, or with a counter that skips a number.
 */
/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;
/** A time, with its date if present, at the beginning of a line or after the name of its source. */
const TIME = /(?:(\d{4})-(\d{2})-(\d{2})[T ]|(\d{1,2}):?[ T])?(?<!\d)(\d{2}):(\d{2}):(\d{2})(?!\d)/;
const MAX_TIME_OFFSET = 60;
const DAY_SECONDS = 86_400;
/** Minimum number of steps that can show which one is an outlier. */
const MIN_STEPS = 12;
/** A pause lasts at least this many seconds, and this many times the 90th percentile. */
const MIN_PAUSE_SECONDS = 20;
const PAUSE_FACTOR = 12;
/** Minimum share of lines in which a counter rises by the same amount. */
const USUAL_SHARE = 0.97;
/**
 * Number of lines in the middle of a log that are searched for counters, and the maximum number of
 * words with a counter.
 */
const SAMPLE = 60;
const MAX_WORDS = 12;
const COUNTER = /([\p{L}_]{2,24})["']?[^\p{L}\p{N}]{1,4}\d/gu;
const NUMBER = /^["']?[^\p{L}\p{N}]{1,4}(\d{1,15})(?![\p{L}\p{N}])/u;
/** Maximum number of steps of each kind. */
const MAX_OF_KIND = 2;

/** The value of a line, and its index. */
interface Value {
  readonly at: number;
  readonly value: number;
}

/** Returns the indexes of the lines on both sides of such steps, the longest pauses first. */
export function outlierSteps(lines: readonly string[]): readonly number[] {
  return [...new Set([...pauses(lines), ...counterGaps(lines)])];
}

function pauses(lines: readonly string[]): readonly number[] {
  const times = lines.flatMap((line, at): Value[] => {
    const value = secondsOf(line);
    return value === undefined ? [] : [{ at, value }];
  });
  const steps = stepsOf(times);
  if (steps.length < MIN_STEPS) return [];
  const sorted = steps.map(({ by }) => by).toSorted((a, b) => a - b);
  const min = Math.max(MIN_PAUSE_SECONDS, PAUSE_FACTOR * sorted[Math.floor(sorted.length * 0.9)]!);
  return steps
    .filter(({ by }) => by >= min)
    .toSorted((a, b) => b.by - a.by || a.to - b.to)
    .slice(0, MAX_OF_KIND)
    .flatMap(({ from, to }) => [from, to]);
}

/**
 * Returns the time of a line in seconds. Uses only the day of the month, so a month's end yields no
 * pause.
 */
function secondsOf(line: string): number | undefined {
  const [found, , , day, other, hours, minutes, seconds] =
    TIME.exec(line.slice(0, MAX_TIME_OFFSET)) ?? [];
  if (found === undefined) return undefined;
  const days = Number(day ?? other ?? 0);
  return days * DAY_SECONDS + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

interface Step {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

function stepsOf(values: readonly Value[]): readonly Step[] {
  return values.slice(1).map(({ at, value }, nth) => ({
    from: values[nth]!.at,
    to: at,
    by: value - values[nth]!.value,
  }));
}

/**
 * Finds gaps in numbers after the same word that otherwise rise by the same amount from line to
 * line.
 */
function counterGaps(lines: readonly string[]): readonly number[] {
  const middle = Math.max(0, (lines.length - SAMPLE) >> 1);
  return counterWords(lines.slice(middle, middle + SAMPLE)).flatMap((word) => {
    const steps = stepsOf(lines.flatMap((line, at) => numberAfter(word, line, at)));
    const usual = usualStep(steps);
    if (usual === undefined || steps.length < MIN_STEPS) return [];
    return steps
      .filter(({ by }) => by !== usual)
      .slice(0, MAX_OF_KIND)
      .flatMap(({ from, to }) => [from, to]);
  });
}

/**
 * Returns the words followed by a counter in a sample of the lines: checking every number of a long
 * log is slow.
 */
function counterWords(sample: readonly string[]): readonly string[] {
  const words = new Set<string>();
  for (const line of sample)
    for (const [, word] of line.slice(0, MAX_LINE_CHARS).matchAll(COUNTER)) words.add(word!);
  return [...words].slice(0, MAX_WORDS).filter((word) => {
    const steps = stepsOf(sample.flatMap((line, at) => numberAfter(word, line, at)));
    return steps.length >= MIN_STEPS && usualStep(steps) !== undefined;
  });
}

function numberAfter(word: string, line: string, at: number): readonly Value[] {
  const place = line.slice(0, MAX_LINE_CHARS).indexOf(word);
  if (place < 0) return [];
  const digits = NUMBER.exec(line.slice(place + word.length, place + word.length + 32))?.[1];
  return digits === undefined ? [] : [{ at, value: Number(digits) }];
}

/** Returns the increment of nearly all steps; undefined if they do not count. */
function usualStep(steps: readonly Step[]): number | undefined {
  const usual = steps.map(({ by }) => by).toSorted((a, b) => a - b)[steps.length >> 1];
  const others = steps.filter(({ by }) => by !== usual).length;
  const isCounter = usual !== 0 && others <= Math.max(1, steps.length * (1 - USUAL_SHARE));
  return isCounter ? usual : undefined;
}
