/**
 * Full-text search of the documentation: the index made by the build, and its search. Also runs in
 * browsers.
 */

/** A heading with the text after it. */
export interface Part {
  /** Address, with its anchor. */
  readonly href: string;
  readonly page: string;
  readonly title: string;
  /** Beginning of its text. */
  readonly excerpt: string;
}

export interface SearchIndex {
  readonly parts: readonly Part[];
  /** For each word, part numbers and the word's weights in them, alternating. */
  readonly words: Readonly<Record<string, readonly number[]>>;
}

/** Text of a part of a page, for the index. */
export interface PartText extends Omit<Part, 'excerpt'> {
  readonly text: string;
}

const WEIGHTS = { title: 6, page: 4 };
const MOST_OF_TEXT = 3;
const EXCERPT_CHARS = 140;
const MOST_FOUND = 12;

/** Words without value for a search. */
const COMMON = new Set(
  'a an and are as at be by can do does for from how i in is it my of on or that the this to what when where which why with'.split(
    ' ',
  ),
);

/** Returns the words of a text in index form: lower case, without plural and verb endings. */
export function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !COMMON.has(word)).map(stem);
}

function stem(word: string): string {
  if (word.length < 5) return word.replace(/(?<=..)s$/, '');
  return word.replace(/(?:ing|ed|es|s|e)$/, '');
}

export function buildIndex(texts: readonly PartText[]): SearchIndex {
  const words = new Map<string, number[]>();
  for (const [at, { title, page, text }] of texts.entries()) {
    const weights = new Map<string, number>();
    const add = (from: string, weight: number, most: number): void => {
      for (const word of wordsOf(from))
        weights.set(word, Math.min((weights.get(word) ?? 0) + weight, most));
    };
    add(text, 1, MOST_OF_TEXT);
    add(page, WEIGHTS.page, Infinity);
    add(title, WEIGHTS.title, Infinity);
    for (const [word, weight] of weights) {
      const list = words.get(word) ?? [];
      list.push(at, weight);
      words.set(word, list);
    }
  }
  return {
    parts: texts.map(({ text, ...part }) => ({ ...part, excerpt: text.slice(0, EXCERPT_CHARS) })),
    words: Object.fromEntries(words),
  };
}

/**
 * Returns the parts that contain the words of `query`, best first; the last word may be incomplete.
 */
export function search({ parts, words }: SearchIndex, query: string): readonly Part[] {
  const wanted = wordsOf(query);
  const scores = new Map<number, number>();
  for (const [nth, word] of wanted.entries()) {
    const isLast = nth === wanted.length - 1;
    const best = new Map<number, number>();
    for (const [known, list] of Object.entries(words)) {
      if (known !== word && !(isLast && known.startsWith(word))) continue;
      // Frequent words weigh less.
      const rarity = Math.log(1 + (2 * parts.length) / list.length);
      const share = known === word ? 1 : 0.6;
      for (let at = 0; at < list.length; at += 2) {
        const score = list[at + 1]! * rarity * share;
        best.set(list[at]!, Math.max(best.get(list[at]!) ?? 0, score));
      }
    }
    // A part with several of the words ranks above one that repeats one of them.
    for (const [at, score] of best) scores.set(at, (scores.get(at) ?? 0) + score + 10);
  }
  return [...scores]
    .toSorted(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b)
    .slice(0, MOST_FOUND)
    .map(([at]) => parts[at]!);
}
