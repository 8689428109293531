/**
 * Measures the time per 10,000 estimated tokens, text by text, and for single lines of a megabyte.
 */
import { builtIn } from '../../stages/compress/rules/built-in.ts';
import type { ApplyContext } from '../../stages/compress/rules/rewrite.ts';
import { estimateTokens } from '../../stages/model/tokens.ts';

export interface SpeedResult {
  readonly texts: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** The slowest of several single lines of a megabyte. */
  readonly longLineMs: number;
}

const CONTEXT: ApplyContext = {
  mode: 'hybrid',
  query: 'why does the build fail',
  maxChars: 120,
  logBudgetTokens: 3500,
  hints: {},
};

/**
 * Measures texts of at least 500 tokens: all of them once as warm-up, as in a proxy that has run
 * for a minute, then each three times; the best time counts.
 */
export function measureSpeed(texts: readonly string[]): SpeedResult {
  const long = texts.filter((text) => estimateTokens(text) >= 500);
  for (const text of long) builtIn.apply(text, CONTEXT);
  const times = long.map((text) => {
    const best = Math.min(...[0, 1, 2].map(() => timeOf(text)));
    return (best * 10_000) / estimateTokens(text);
  });
  const sorted = times.toSorted((a, b) => a - b);
  return {
    texts: long.length,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN,
    p95Ms: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
    longLineMs: Math.max(...longLines().map((line) => Math.min(timeOf(line), timeOf(line)))),
  };
}

function timeOf(text: string): number {
  const start = performance.now();
  builtIn.apply(text, CONTEXT);
  return performance.now() - start;
}

function longLines(): readonly string[] {
  const texts = [
    'a',
    'a/b.c:1: ',
    'error: no ',
    '{"a":[1,2],',
    'x = y; ',
    '\u001b[31m',
    '. A b',
    '12 ',
  ];
  // Log lines that a terminal redraws, some with NUL bytes as in UTF-16.
  const redrawn = [
    '\r',
    ' \r',
    '\u0000',
    '\r\u0000',
    'a\r',
    '12%\r',
    'error: no\r',
    'step 1 done\r',
    'e\u0000r\u0000r\u0000 \u0000',
  ];
  const counted = [
    (n: number) => `Receiving objects: ${n % 100}% (${n}/40000)\r`,
    (n: number) => `INFO step ${n} done\r`,
    (n: number) => `${n % 100}%\r`,
  ];
  return [
    ...texts.map((piece) => fill(() => piece)),
    ...redrawn.map((piece) => `INFO ${fill(() => piece)}`),
    ...counted.map((piece) => `INFO ${fill(piece)}`),
  ];
}

/** Repeats a piece to a million characters. */
function fill(piece: (n: number) => string): string {
  const pieces: string[] = [];
  for (let n = 0, length = 0; length < 1_000_000; n++) {
    pieces.push(piece(n));
    length += pieces[n]!.length;
  }
  return pieces.join('');
}
