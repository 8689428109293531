/** Finds recurring line shapes in a text, each as a pattern for a recipe. */
import { estimateTokens } from '../../stages/model/tokens.ts';
import { patternFault } from '../../stages/compress/recipe/pattern.ts';

export interface LineShape {
  readonly pattern: string;
  readonly lines: number;
  readonly tokens: number;
}

/** Fewer lines of a shape do not count as repetition. */
const MIN_LINES = 10;
/** A shape with a smaller share of the text is not worth an operation. */
const MIN_SHARE = 0.05;
const MAX_SHAPES = 8;
/** Number of leading words that define a line's shape. */
const WORDS = 4;
const MAX_WORD_CHARS = 24;

/** Returns the most frequent shapes worth leaving out, largest first. */
export function lineShapes(text: string): readonly LineShape[] {
  const shapes = new Map<string, { lines: number; tokens: number }>();
  for (const line of text.split('\n')) {
    const pattern = patternOf(line);
    if (pattern === undefined) continue;
    const { lines, tokens } = shapes.get(pattern) ?? { lines: 0, tokens: 0 };
    shapes.set(pattern, { lines: lines + 1, tokens: tokens + estimateTokens(`${line}\n`) });
  }
  const minTokens = MIN_SHARE * estimateTokens(text);
  return [...shapes]
    .map(([pattern, counts]) => ({ pattern, ...counts }))
    .filter(
      ({ pattern, lines, tokens }) =>
        lines >= MIN_LINES && tokens >= minTokens && patternFault(pattern) === undefined,
    )
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, MAX_SHAPES);
}

/**
 * Returns a pattern of a line's start with names and numbers as wildcards; undefined if no word
 * remains.
 */
function patternOf(line: string): string | undefined {
  const [, indent = '', rest = ''] = /^(\s{0,20})(.*)$/.exec(line) ?? [];
  const words = rest.split(/\s+/, WORDS).map((word) => (isName(word) ? undefined : word));
  if (!words.some((word) => word !== undefined && /\p{L}{3}/u.test(word))) return undefined;
  const start = indent === '' ? '^' : `^\\s{${indent.length}}`;
  return start + words.map((word) => (word === undefined ? '\\S+' : escaped(word))).join('\\s+');
}

/** Returns true for words that vary between lines: numbers, paths, addresses, long words. */
function isName(word: string): boolean {
  return word.length > MAX_WORD_CHARS || /[\d/\\@=]|\w[.:]\w/.test(word);
}

const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
