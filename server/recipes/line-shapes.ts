/** The shapes of a text's lines that come again and again, each as a pattern of a recipe. */
import { estimateTokens } from '../../stages/model/tokens.ts';
import { patternFault } from '../../stages/compress/recipe/pattern.ts';

export interface LineShape {
  readonly pattern: string;
  readonly lines: number;
  readonly tokens: number;
}

/** Fewer lines of a kind are no repetition. */
const LEAST_LINES = 10;
/** A smaller part of the text is not worth an operation. */
const LEAST_SHARE = 0.05;
const MOST_SHAPES = 8;
/** Words of a line that tell its shape. */
const WORDS = 4;
const MOST_WORD_CHARS = 24;

/** The most frequent shapes that are worth leaving out, the largest first. */
export function lineShapes(text: string): readonly LineShape[] {
  const shapes = new Map<string, { lines: number; tokens: number }>();
  for (const line of text.split('\n')) {
    const pattern = patternOf(line);
    if (pattern === undefined) continue;
    const { lines, tokens } = shapes.get(pattern) ?? { lines: 0, tokens: 0 };
    shapes.set(pattern, { lines: lines + 1, tokens: tokens + estimateTokens(`${line}\n`) });
  }
  const leastTokens = LEAST_SHARE * estimateTokens(text);
  return [...shapes]
    .map(([pattern, counts]) => ({ pattern, ...counts }))
    .filter(
      ({ pattern, lines, tokens }) =>
        lines >= LEAST_LINES && tokens >= leastTokens && patternFault(pattern) === undefined,
    )
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, MOST_SHAPES);
}

/** What a line begins with, its names and numbers left open; undefined where no word of it is left. */
function patternOf(line: string): string | undefined {
  const [, indent = '', rest = ''] = /^(\s{0,20})(.*)$/.exec(line) ?? [];
  const words = rest.split(/\s+/, WORDS).map((word) => (isName(word) ? undefined : word));
  if (!words.some((word) => word !== undefined && /\p{L}{3}/u.test(word))) return undefined;
  const start = indent === '' ? '^' : `^\\s{${indent.length}}`;
  return start + words.map((word) => (word === undefined ? '\\S+' : escaped(word))).join('\\s+');
}

/** What differs from line to line: numbers, paths, addresses, long words. */
function isName(word: string): boolean {
  return word.length > MOST_WORD_CHARS || /[\d/\\@=]|\w[.:]\w/.test(word);
}

const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
