/**
 * Words with non-ASCII letters. Accents are folded, so that `cafe` finds `café`. Chinese, Japanese,
 * Korean, Thai and similar scripts do not separate words by spaces, or separate them differently
 * than a query does: they are split into overlapping pairs of characters, as search engines without
 * a dictionary do.
 */

/** Scripts whose runs are split into pairs, and the marks inside such runs. */
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]+/gu;
/** Accents of Latin, Greek and Cyrillic; in other scripts vowel signs are letters. */
const ACCENTS = /[\u0300-\u036f]/g;

/** A piece of a word with its offset. */
export interface WordPart {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** True for a character pair, which is a term unchanged. */
  readonly isTerm: boolean;
}

/** Returns the parts of `word`, folded: character pairs of dense scripts, and the text between. */
export function wideParts(word: string): WordPart[] {
  const folded = word.normalize('NFKD').replace(ACCENTS, '').normalize('NFKC');
  const keepsOffsets = folded.length === word.length;
  const parts: WordPart[] = [];
  const add = (text: string, start: number, isTerm: boolean): void => {
    if (text === '') return;
    const span = keepsOffsets
      ? { start, end: start + text.length }
      : { start: 0, end: word.length };
    parts.push({ text, ...span, isTerm });
  };
  let done = 0;
  for (const { 0: run, index } of folded.matchAll(DENSE)) {
    add(folded.slice(done, index), done, false);
    for (const [text, at] of pairsOf(run)) add(text, index + at, true);
    done = index + run.length;
  }
  add(folded.slice(done), done, false);
  return parts;
}

/**
 * Returns overlapping character pairs of `run` with their offsets; a single character is one term.
 */
function pairsOf(run: string): [string, number][] {
  const characters = Array.from(run);
  if (characters.length === 1) return [[run, 0]];
  let at = 0;
  return characters.slice(1).map((second, index) => {
    const first = characters[index]!;
    const pair: [string, number] = [first + second, at];
    at += first.length;
    return pair;
  });
}
