/**
 * The only token estimate used for decisions about bytes.
 *
 * It must never depend on the model, on a library's version or on anything learned: its result
 * decides what goes upstream, and an answer that changed between two turns would rewrite a prefix
 * that the provider has already cached. It is a single pass over pairs of neighbouring character
 * classes. The weights were fitted once, by least squares, to the mean of two public tokenizers
 * over prose, code, logs, JSON and configuration; they are frozen with the algorithm's version.
 */

const CLASSES = 8;
const START = 0;
const LETTER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const NEWLINE = 5;
const PUNCTUATION = 6;
const WIDE = 7;

const classOf = buildClasses();
/**
 * Thousandths of a token that a character costs, by its class and that of the character to its
 * left.
 */
const costOf = buildCosts();
const MAX_COST = Math.max(...costOf);

/**
 * Estimates the tokens of `text`: a whole number ≥ 0, and ≥ 1 for any text that is not empty. Pure
 * and linear, about 5 µs per 1,000 characters.
 */
export function estimateTokens(text: string): number {
  return estimateRange(text, 0, text.length);
}

/** The same estimate for `text.slice(from, to)`, without making the slice. */
export function estimateRange(text: string, from: number, to: number): number {
  let sum = 0;
  let previous = START;
  for (let index = from; index < to; index++) {
    const code = text.charCodeAt(index);
    const kind = code < 128 ? classOf[code]! : WIDE;
    sum += costOf[previous * CLASSES + kind]!;
    previous = kind;
  }
  return to > from ? Math.max(1, Math.round(sum / 1000)) : 0;
}

/**
 * Returns true if `estimateTokens(text)` is at least `tokens`. A text far too short is not read at
 * all, a far longer one only at its beginning.
 */
export function costsAtLeast(text: string, tokens: number): boolean {
  if (text.length * MAX_COST < (tokens - 0.5) * 1000) return false;
  // No character has a negative cost, so a beginning never costs more than the whole.
  for (let length = 1000 + tokens * 8; length < text.length; length *= 4)
    if (estimateRange(text, 0, length) >= tokens) return true;
  return estimateTokens(text) >= tokens;
}

function buildClasses(): Uint8Array {
  const table = new Uint8Array(128).fill(PUNCTUATION);
  table.fill(LETTER, 97, 123);
  table.fill(UPPER, 65, 91);
  table.fill(DIGIT, 48, 58);
  for (const space of [9, 32]) table[space] = SPACE;
  for (const lineBreak of [10, 13]) table[lineBreak] = NEWLINE;
  return table;
}

function buildCosts(): Int32Array {
  const costs = new Int32Array(CLASSES * CLASSES);
  const first = { [LETTER]: 713, [UPPER]: 713, [DIGIT]: 1390, [NEWLINE]: 40, [PUNCTUATION]: 880 };
  for (let previous = START; previous < CLASSES; previous++) {
    for (const [kind, cost] of Object.entries(first)) costs[previous * CLASSES + +kind] = cost;
    costs[previous * CLASSES + WIDE] = 560;
  }
  const follow = (previous: number, kind: number, cost: number): void => {
    costs[previous * CLASSES + kind] = cost;
  };
  follow(LETTER, LETTER, 93);
  follow(UPPER, LETTER, 93);
  follow(UPPER, UPPER, 410);
  follow(DIGIT, DIGIT, 165);
  follow(PUNCTUATION, PUNCTUATION, 30);
  follow(NEWLINE, NEWLINE, 600);
  // A single space merges with the following word; a run is a token of its own, and a long one
  // costs a little more.
  follow(SPACE, SPACE, 180);
  follow(NEWLINE, SPACE, 500);
  return costs;
}
